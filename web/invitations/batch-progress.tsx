import type { ReactElement } from 'react';
import { Message } from '../design/message.tsx';
import { isUnderWay, type InvitationsOverview } from './invitations-query.ts';

/** How far what was invited last is: made first, then mailed at the pace of the service. */
export function BatchProgress({ overview }: { overview: InvitationsOverview }): ReactElement {
  const moving = overview.batches.filter(isUnderWay);
  const failed = overview.batches.filter(({ failed_reason }) => failed_reason !== null);
  return (
    <>
      {failed.map((batch) => (
        <Message key={`${batch.id} failed`} tone="bad" title="Inviting stopped">
          {batch.failed_reason} {batch.created.toLocaleString()} of {batch.total.toLocaleString()} people were
          invited. You can import the file again: an address is invited once.
        </Message>
      ))}
      {moving.map((batch) => {
        const made = batch.created + batch.skipped;
        const isMade = made >= batch.total;
        const done = isMade ? batch.created - batch.waiting : made;
        const all = isMade ? batch.created : batch.total;
        return (
          <Message key={batch.id}>
            <label className="batch-progress">
              <span>
                {isMade ? 'Mailing' : 'Inviting'}: {done.toLocaleString()} of {all.toLocaleString()}
                {isMade && overview.mails_per_minute !== null && (
                  <span className="soft">
                    {' '}
                    · up to {overview.mails_per_minute.toLocaleString()} a minute. You can leave this page.
                  </span>
                )}
              </span>
              <progress max={all} value={done} />
            </label>
          </Message>
        );
      })}
    </>
  );
}
