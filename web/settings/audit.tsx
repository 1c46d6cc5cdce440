import './mail.css';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { describeBrowser } from '../account/browser-name.ts';
import { download, operationQuery } from '../api/operations.ts';
import { keepPreviousRows } from '../api/query-client.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { Chip } from '../design/chip.tsx';
import { startOfLocalDay } from '../design/day.ts';
import { TextField } from '../design/field.tsx';
import { SettingsPage } from '../design/page.tsx';
import { Pager } from '../design/pager.tsx';
import { Select } from '../design/select.tsx';
import { EmptyState, QueryState } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { Ago, formatDateTime } from '../design/time.tsx';
import { membersQuery, useWorkspace } from './workspace.ts';

type Line = ReplyOf<'listAuditLog'>['data'][number];

/** Formats `changeWebhook` as "Change webhook". */
function describeOperation({ operation }: Line): string {
  const words = operation.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function describeActor({ actor: { kind, name } }: Line): string {
  if (kind === 'operator') return 'Operator';
  return kind === 'key' ? `API key ${name ?? ''}` : (name ?? 'Deleted account');
}

type Change = { from?: unknown; to?: unknown };
const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Returns the name of the thing that was created, renamed or deleted. */
function changedName({ changes }: Line): string | undefined {
  const { from, to = from } = changes?.['name'] ?? {};
  return typeof to === 'string' ? to : undefined;
}

/** Separates changes to an existing thing from the values of a new one. */
function partChanges({ changes }: Line): { changed: string[]; created: string[] } {
  const all = Object.entries(changes ?? {}) as [string, Change][];
  const describeAll = (isNew: boolean): string[] =>
    all.filter(([, { from }]) => (from === undefined) === isNew).map((each) => describeChange(...each));
  return { changed: describeAll(false), created: describeAll(true) };
}

/** Formats a change as `role: editor → admin`. */
function describeChange(name: string, change: Change): string {
  const label = name.replaceAll('_', ' ').replaceAll('.', ' › ');
  if (change.from === undefined) return `${label}: ${formatValue(change.to)}`;
  return `${label}: ${formatValue(change.from)} → ${formatValue(change.to)}`;
}

function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return moment.test(value) ? formatDateTime(value) : value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.map(formatValue).join(', ') || 'none' : JSON.stringify(value);
}

/**
 * `actor`: undefined for everyone; otherwise all API keys, the command line, or the ID of a member. Days are
 * as typed.
 */
type View = { actor: string | undefined; from: string | undefined; to: string | undefined; page: number };

const perPage = 25;

/** Actors that are not members. */
const others = [
  { id: 'key', label: 'API keys' },
  { id: 'command', label: 'Operator' },
] as const;

const filterOf = ({ actor, from, to }: View) => {
  const other = others.find(({ id }) => id === actor);
  return {
    ...(other ? { by: other.id } : actor !== undefined && { actor_id: actor }),
    ...(from !== undefined && { from: startOfLocalDay(from, 0) }),
    ...(to !== undefined && { to: startOfLocalDay(to, 1) }),
  };
};

const auditQuery = (workspace: string, view: View) =>
  queryOptions({
    ...operationQuery(workspace, 'listAuditLog', {
      query: { page: view.page, per_page: perPage, ...filterOf(view) },
    }),
    placeholderData: (before) => keepPreviousRows(before),
    // Never cached: every action in the console adds to it.
    staleTime: 0,
  });

/** Reads the view from the URL, which people can also edit by hand. */
function useView(): [View, (change: Partial<View>) => void] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const page = Number(search['page']);
  const dayOf = (name: string): string | undefined =>
    /^\d{4}-\d\d-\d\d$/.test(String(search[name])) ? String(search[name]) : undefined;
  const view = {
    actor: typeof search['actor'] === 'string' ? search['actor'] : undefined,
    from: dayOf('from'),
    to: dayOf('to'),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
  return [view, (change) => void navigate({ to: '.', search: { ...view, page: undefined, ...change } })];
}

const columns: readonly TableColumn<Line>[] = [
  {
    id: 'what',
    title: 'Action',
    cell: (line) => (
      <div className="mail-what">
        <What line={line} />
        {line.status === null && <Chip tone="warn">Result unknown</Chip>}
        {line.status !== null && line.status >= 400 && <Chip tone="bad">Failed</Chip>}
      </div>
    ),
  },
  { id: 'who', title: 'Who', cell: describeActor },
  {
    id: 'from',
    title: 'From',
    isSecondary: true,
    cell: ({ by, agent, address }) =>
      by === 'command' ? (
        'Command line'
      ) : (
        <div className="mail-what">
          <span>{by === 'key' ? agent : describeBrowser(agent)}</span>
          <code className="soft small">{address}</code>
        </div>
      ),
  },
  { id: 'when', title: 'When', cell: ({ at }) => <Ago at={at} /> },
];

/** Shows the action and the name of its subject. Technical details are collapsed. */
function What({ line }: { line: Line }): ReactElement {
  const name = changedName(line);
  const { changed, created } = partChanges(line);
  const folded = line.path === '' ? created : [...created, line.path];
  return (
    <>
      <span>
        {describeOperation(line)}
        {name !== undefined && <strong> {name}</strong>}
      </span>
      {changed.map((text) => (
        <span key={text} className="soft small">
          {text}
        </span>
      ))}
      {folded.length > 0 && (
        <details className="soft small">
          <summary>Details</summary>
          <ul role="list" className="mail-details">
            {folded.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** The audit log: who changed something, signed in, read a submission, or exported data. */
export function AuditScreen(): ReactElement {
  const workspace = useWorkspace();
  const [view, change] = useView();
  const members = useQuery(membersQuery(workspace.id));
  const log = useQuery(auditQuery(workspace.id, view));
  const save = useAction({
    run: () => download(workspace.id, 'exportAuditLog', { query: filterOf(view) }),
    problem: 'toast',
  });
  const people = (members.data ?? []).map(({ id, name }) => ({ id, label: name }));
  return (
    <SettingsPage
      title="Audit log"
      lead="Every sign-in, change, opened submission and export in this workspace."
      actions={
        <Button icon="download" {...save.press()}>
          Download
        </Button>
      }
    >
      <div className="mail-test">
        <Select
          label="Show"
          className="mail-filter"
          value={view.actor ?? 'all'}
          choices={[{ id: 'all', label: 'Everyone' }, ...people, ...others]}
          onChange={(id) => change({ actor: id === 'all' ? undefined : id })}
        />
        <TextField
          type="date"
          label="First day"
          value={view.from ?? ''}
          onChange={(from) => change({ from: from || undefined })}
        />
        <TextField
          type="date"
          label="Last day"
          value={view.to ?? ''}
          onChange={(to) => change({ to: to || undefined })}
        />
      </div>
      <QueryState
        query={log}
        label="Loading activity…"
        empty={
          <EmptyState icon="history" title="No activity found">
            <p>
              Nothing matches these filters, or the entries were deleted when their retention period ended.
            </p>
          </EmptyState>
        }
      >
        {({ data, pagination }) => (
          <>
            <DataTable label="Audit log" columns={columns} rows={data} rowId={({ id }) => id} />
            <Pager
              label="Pages of activity"
              page={view.page}
              pagination={pagination}
              onChange={(page) => change({ ...view, page })}
            />
          </>
        )}
      </QueryState>
    </SettingsPage>
  );
}
