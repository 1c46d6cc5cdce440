import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import { saveFile } from '../../design/save-file.ts';
import { erasureQuery, type Erasure } from './people-query.ts';
import { sayCount } from '#ast/say-count.ts';

const words = {
  submissions: ['submission', 'submissions'],
  stripped: ['submission without whose it was', 'submissions without whose they were'],
  spam: ['entry of a spam box', 'entries of spam boxes'],
  files: ['file', 'files'],
  notes: ['note', 'notes'],
  changes: ['line of history', 'lines of history'],
  links: ['personal link', 'personal links'],
  events: ['event', 'events'],
  deliveries: ['delivery to a webhook', 'deliveries to webhooks'],
  mails: ['mail', 'mails'],
  invitations: ['invitation', 'invitations'],
  import_lines: ['line of an import', 'lines of imports'],
  kept_requests: ['kept answer to a request', 'kept answers to requests'],
} as const satisfies Record<keyof Erasure['gone'], readonly [one: string, many: string]>;

/** What is gone, in words: "2 submissions, 1 file". */
export function sayGone(gone: Erasure['gone']): string {
  const said = (Object.keys(words) as (keyof typeof words)[]).flatMap((kind) => {
    const [one, many] = words[kind];
    return gone[kind] === 0 ? [] : [sayCount(gone[kind], one, many)];
  });
  return said.length === 0 ? 'Nothing was there' : said.join(', ');
}

/** Hands the receipt over: it says how much of what is gone, and nothing of what it was. */
export function saveReceipt(erasure: Erasure): void {
  saveFile(`receipt-${erasure.id}.json`, `${JSON.stringify(erasure, null, 2)}\n`, 'application/json');
}

/** How far an erasing is, and its receipt when it is finished. */
export function ReceiptCard({ workspace, id }: { workspace: string; id: string }): ReactElement {
  const { data: erasure, error } = useQuery(erasureQuery(workspace, id));
  if (error) return <Message tone="bad">{error.message}</Message>;
  const isDone = erasure !== undefined && erasure.finished_at !== null;
  return (
    <Card title={isDone ? 'Erased' : 'Erasing …'}>
      <div role="status" className="stack">
        {isDone ? (
          <Message
            tone="good"
            action={
              <Button icon="download" size="small" onPress={() => saveReceipt(erasure)}>
                Download receipt
              </Button>
            }
          >
            {sayGone(erasure.gone)}. Backups have it until they end.
          </Message>
        ) : erasure && erasure.failed_reason !== null ? (
          <Message tone="bad" title="Erasing stopped">
            {erasure.failed_reason} {erasure.done.toLocaleString()} of {erasure.total.toLocaleString()} are
            gone. Ask the operator of this service to retry it.
          </Message>
        ) : (
          <p>
            {erasure
              ? `${erasure.done.toLocaleString()} of ${erasure.total.toLocaleString()} are gone. `
              : ''}
            It goes on when you leave this page.
          </p>
        )}
      </div>
    </Card>
  );
}
