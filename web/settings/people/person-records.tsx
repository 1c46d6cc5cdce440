import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { formatCount } from '#ast/basics/format-number.ts';
import { callOperation, operationQuery } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { Checkbox } from '../../design/checkbox.tsx';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { downloadTextFile } from '../../design/files.ts';
import { Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { TaskProgress } from '../../design/task-progress.tsx';
import { Ago } from '../../design/time.tsx';

type PersonRecord = ReplyOf<'findPerson'>['data'][number];
export type Erasure = ReplyOf<'getErasure'>;
/** The text to search for, and how to match it. */
export type PersonSearchInput = { q: string; match: NonNullable<InputOf<'findPerson'>['query']['match']> };

const perPage = 25;

/** Finds the data of a person. It is not cached beyond the screen and never in a URL. */
export const personRecordsQuery = (workspace: string, search: PersonSearchInput | undefined, page: number) =>
  queryOptions({
    queryKey: ['people', workspace, search, page],
    queryFn: () => callOperation(workspace, 'findPerson', { query: { ...search!, page, per_page: perPage } }),
    enabled: search !== undefined,
    // Keeps the rows while paging, but not when another person is searched for.
    placeholderData: (before, query) => (query?.queryKey[2] === search ? before : undefined),
    staleTime: 0,
    gcTime: 0,
  });

/** Whether the erasure is still running. */
const isErasing = ({ finished_at, failed_reason }: Erasure): boolean =>
  finished_at === null && failed_reason === null;

/** Polls an erasure until it has finished. */
const erasureQuery = (workspace: string, id: string | undefined) =>
  queryOptions({
    ...operationQuery(workspace, 'getErasure', { params: { id: id! } }),
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data && isErasing(data) ? 1_000 : false),
  });

export const erasuresQuery = (workspace: string, page: number) =>
  queryOptions({
    ...operationQuery(workspace, 'listErasures', { query: { page, per_page: perPage } }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.data.some(isErasing) ? 1_000 : false),
  });

const kinds = {
  submission: 'Submission',
  spam: 'Spam',
  invitation: 'Invitation',
  mail: 'Email',
  event: 'Deletion event',
} as const satisfies Record<PersonRecord['kind'], string>;

/** The screens that show each kind of data. Kinds without an entry are not shown on a screen. */
const screens: Partial<Record<PersonRecord['kind'], string>> = {
  submission: '/forms/$form/submissions',
  spam: '/forms/$form/spam',
  invitation: '/forms/$form/invitations',
};

/** Lists what was found. Items that belong to another person can be excluded with a checkbox. */
export function FoundRecords({
  records,
  except,
  onExcept,
}: {
  records: readonly PersonRecord[];
  except: ReadonlySet<string>;
  onExcept: (id: string, isExcepted: boolean) => void;
}): ReactElement {
  const columns: readonly TableColumn<PersonRecord>[] = [
    {
      id: 'what',
      title: 'Data',
      cell: (record) => (
        <Checkbox isSelected={!except.has(record.id)} onChange={(isOn) => onExcept(record.id, !isOn)}>
          {kinds[record.kind]}
        </Checkbox>
      ),
    },
    { id: 'where', title: 'Where', cell: (record) => <Where record={record} /> },
    { id: 'places', title: 'Found in', isSecondary: true, cell: ({ places }) => places.join(', ') || 'Text' },
    { id: 'when', title: 'When', isSecondary: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
  return (
    <DataTable
      label="Search results"
      columns={columns}
      rows={records}
      rowId={({ kind, id }) => `${kind} ${id}`}
    />
  );
}

function Where({
  record: { kind, id, form_id, form_name, status, is_trashed },
}: {
  record: PersonRecord;
}): ReactElement {
  const name = form_name ?? 'No form';
  const screen = is_trashed ? '/forms/$form/trash' : screens[kind];
  return (
    <div className="row">
      {form_id === null || screen === undefined ? (
        <span>{name}</span>
      ) : (
        <Link
          to={screen}
          params={{ form: form_id }}
          search={screen === screens.submission ? { open: id } : {}}
        >
          {name}
        </Link>
      )}
      {is_trashed && <Chip>In trash</Chip>}
      {status !== null && status !== 'completed' && <StatusChip status={status} />}
    </div>
  );
}

const words = {
  submissions: ['submission', 'submissions'],
  stripped: ['anonymized submission', 'anonymized submissions'],
  spam: ['spam submission', 'spam submissions'],
  files: ['file', 'files'],
  notes: ['note', 'notes'],
  changes: ['history entry', 'history entries'],
  links: ['personal link', 'personal links'],
  events: ['event', 'events'],
  deliveries: ['webhook delivery', 'webhook deliveries'],
  mails: ['mail', 'mails'],
  invitations: ['invitation', 'invitations'],
  import_lines: ['imported row', 'imported rows'],
  kept_requests: ['stored API response', 'stored API responses'],
} as const satisfies Record<keyof Erasure['gone'], readonly [one: string, many: string]>;

/** Describes what was erased: "2 submissions, 1 file". */
export function describeErased(gone: Erasure['gone']): string {
  const counts = (Object.keys(words) as (keyof typeof words)[]).flatMap((kind) => {
    const [one, many] = words[kind];
    return gone[kind] === 0 ? [] : [formatCount(gone[kind], one, many)];
  });
  return counts.length === 0 ? 'Nothing was found' : counts.join(', ');
}

/** Downloads the receipt of an erasure. It contains only counts, no personal data. */
export function downloadErasureReceipt(erasure: Erasure): void {
  downloadTextFile(`receipt-${erasure.id}.json`, `${JSON.stringify(erasure, null, 2)}\n`, 'application/json');
}

/** Shows the progress of an erasure, and its receipt at the end. */
export function ErasureReceiptCard({ workspace, id }: { workspace: string; id: string }): ReactElement {
  const { data: erasure, error } = useQuery(erasureQuery(workspace, id));
  if (error) return <Message tone="bad">{error.message}</Message>;
  const isDone = erasure !== undefined && erasure.finished_at !== null;
  return (
    <Card title={isDone ? 'Erased' : 'Erasing…'}>
      <div role="status" className="stack">
        {isDone ? (
          <Message
            tone="good"
            action={
              <Button icon="download" size="small" onPress={() => downloadErasureReceipt(erasure)}>
                Download receipt
              </Button>
            }
          >
            {describeErased(erasure.gone)}. Backups keep the data until they expire.
          </Message>
        ) : (
          erasure && (
            <TaskProgress
              label="Erasing"
              task={erasure}
              note="You can leave this page."
              advice="Ask the operator of this service to retry it."
            />
          )
        )}
      </div>
    </Card>
  );
}
