import '../mail/mail-screen.css';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { ReplyOf } from '#app/operations.ts';
import { call } from '../../api/operations.ts';
import { Chip } from '../../design/chip.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { Select } from '../../design/select.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { membersQuery, useWorkspace } from '../workspace.ts';

type Line = ReplyOf<'listAuditLog'>['data'][number];
type View = { actor: string | undefined; page: number };

const perPage = 25;

const auditQuery = (workspace: string, { actor, page }: View) =>
  queryOptions({
    queryKey: ['audit', workspace, actor, page],
    queryFn: () =>
      call(workspace, 'listAuditLog', {
        query: { page, per_page: perPage, ...(actor !== undefined && { actor_id: actor }) },
      }),
    placeholderData: keepPreviousData,
    // It grows with everything that is done elsewhere in the console.
    staleTime: 0,
  });

/** What the address says. Addresses are written by people too. */
function useView(): [View, (change: Partial<View>) => void] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const page = Number(search['page']);
  const view = {
    actor: typeof search['actor'] === 'string' ? search['actor'] : undefined,
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
  return [view, (change) => void navigate({ to: '.', search: { ...view, page: undefined, ...change } })];
}

const columns: readonly TableColumn<Line>[] = [
  {
    id: 'what',
    title: 'What',
    cell: ({ operation, path, status }) => (
      <div className="mail-what">
        <span>{sayOperation(operation)}</span>
        {path !== '' && <code className="soft small">{path}</code>}
        {status === null && <Chip tone="warn">Its end is not known</Chip>}
      </div>
    ),
  },
  { id: 'who', title: 'Who', cell: ({ actor }) => sayActor(actor) },
  {
    id: 'request',
    title: 'Request',
    isSecondary: true,
    cell: (line) => <code className="soft small">{sayRequest(line)}</code>,
  },
  { id: 'when', title: 'When', isSecondary: true, cell: ({ at }) => <Ago at={at} /> },
];

const sayRequest = ({ request_id, actor }: Line): string =>
  request_id ?? (actor.kind === 'operator' ? 'command line' : '');

/** `changeWebhook` -> Change webhook. */
const sayOperation = (name: string): string => {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

function sayActor({ kind, name }: Line['actor']): string {
  if (kind === 'operator') return 'The operator';
  return kind === 'key' ? `API key ${name ?? ''}` : (name ?? 'Somebody who is gone');
}

/** Who changed what in the workspace: forms, webhooks, members, keys and settings, and who took data out. */
export function AuditScreen(): ReactElement {
  const workspace = useWorkspace();
  const [view, change] = useView();
  const members = useQuery(membersQuery(workspace.id));
  const log = useQuery(auditQuery(workspace.id, view));
  const people = (members.data ?? []).map(({ id, name }) => ({ id, label: name }));
  return (
    <Page
      title="Activity"
      lead="Who changed forms, webhooks, members, keys and settings in the last year. Submissions have histories of their own."
    >
      <div className="row">
        <Select
          label="Show"
          className="mail-filter"
          value={view.actor ?? 'all'}
          choices={[{ id: 'all', label: 'Everyone' }, ...people]}
          onChange={(id) => change({ actor: id === 'all' ? undefined : id })}
        />
      </div>
      {log.error && !log.data ? (
        <ErrorState error={log.error} onRetry={() => void log.refetch()} />
      ) : !log.data ? (
        <Loading label="Loading the activity …" />
      ) : log.data.data.length === 0 ? (
        <EmptyState icon="history" title="Nothing yet">
          <p>What is changed from now on is listed here.</p>
        </EmptyState>
      ) : (
        <>
          <DataTable label="Activity" columns={columns} rows={log.data.data} rowId={({ id }) => id} />
          <Pager
            label="Pages of the activity"
            page={view.page}
            total={log.data.pagination.total_count}
            perPage={perPage}
            onChange={(page) => change({ ...view, page })}
          />
        </>
      )}
    </Page>
  );
}
