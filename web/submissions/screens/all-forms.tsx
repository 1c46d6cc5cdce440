import './all-forms.css';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { pluralize } from '#ast/basics/format-number.ts';
import { parseSearch } from '#ast/search.ts';
import { callOperation } from '../../api/operations.ts';
import { keepPreviousRows } from '../../api/query-client.ts';
import { StatusChip } from '../../design/chip.tsx';
import { HighlightedText } from '../../design/highlighted-text.tsx';
import { Message } from '../../design/message.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, formatDateTime, receivedAt } from '../../design/time.tsx';
import { useWorkspace } from '../../settings/workspace.ts';
import { ScreenSearch } from '../../shell/search/search-box.tsx';
import {
  describeSearchNotes,
  type FoundSubmission,
  firstHit,
  type SearchResults,
  senderOf,
  submissionLink,
  toServerSearch,
} from '../../shell/search/search-results.ts';
import { columnsQuery } from '../queries.ts';
import { firstAnswers } from '../selection/selectable-cell.tsx';

type View = { q: string | undefined; page: number };

const rowsOfPage = 25;
/** The number of characters shown around a match. */
const hitCharacters = 120;

/** Parses the URL parameters and ignores invalid ones. */
function readView({ q, page }: Readonly<Record<string, unknown>>): View {
  const text = typeof q === 'string' || typeof q === 'number' ? String(q).trim() : '';
  return {
    q: text === '' ? undefined : text,
    page: typeof page === 'number' && Number.isInteger(page) && page > 0 ? page : 1,
  };
}

/** Without a search: all submissions, newest first. With one: by relevance, up to the search limit. */
const foundQuery = (workspaceId: string, { q, page }: View) =>
  queryOptions({
    queryKey: ['found', workspaceId, q, page],
    async queryFn({ signal }): Promise<SearchResults> {
      const part = { page, per_page: rowsOfPage };
      if (q === undefined) return callOperation(workspaceId, 'listSubmissions', { query: part }, { signal });
      const query = { q: toServerSearch(q), include: 'hits', typos: true, ...part } as const;
      return callOperation(workspaceId, 'searchSubmissions', { query }, { signal });
    },
    enabled: q === undefined || parseSearch(q).problems.length === 0,
    placeholderData: (before) => keepPreviousRows(before),
    retry: false,
  });

/** Lists the submissions of all forms of a workspace: the newest ones, or the results of a search. */
export function AllSubmissionsScreen(): ReactElement {
  const workspace = useWorkspace();
  const view = readView(useSearch({ strict: false }));
  const navigate = useNavigate();
  const found = useQuery(foundQuery(workspace.id, view));
  const show = (search: View, replace: boolean): void =>
    void navigate({
      to: '.',
      search: {
        ...(search.q !== undefined && { q: search.q }),
        ...(search.page > 1 && { page: search.page }),
      },
      replace,
      resetScroll: !replace,
    });
  const total = found.data?.pagination.total_count;
  const notes = found.data ? describeSearchNotes(found.data) : [];
  return (
    <Page title="All submissions">
      <div role="search" className="search-head">
        <ScreenSearch
          label="Search all submissions"
          placeholder="Search answers in all forms"
          place={{ workspaceId: workspace.id }}
          q={view.q}
          onChange={(q) => show({ q, page: 1 }, true)}
        />
        <span className="soft small numeric" role="status">
          {total !== undefined && !found.isPlaceholderData && formatTotal(total, view.q !== undefined)}
        </span>
      </div>
      {notes.map((note) => (
        <Message key={note} tone="info">
          {note}
        </Message>
      ))}
      <QueryState
        query={found}
        lines={6}
        label="Loading submissions…"
        empty={<Nothing view={view} total={total ?? 0} />}
      >
        {({ data, pagination }) => (
          <div className="search-results" data-stale={found.isPlaceholderData || undefined}>
            <DataTable
              label="Submissions to all forms"
              className="search-table"
              columns={columnsOf(view.q)}
              rows={data}
              rowId={({ id }) => id}
            />
            <Pager
              label="Pages of submissions"
              page={view.page}
              pagination={pagination}
              onChange={(page) => show({ ...view, page }, false)}
            />
          </div>
        )}
      </QueryState>
    </Page>
  );
}

/** The maximum number of results that a search counts. */
const mostFound = 1_000;
const formatTotal = (total: number, isSearch: boolean): string =>
  `${total.toLocaleString()}${isSearch && total === mostFound ? ' or more' : ''} ${pluralize(total, 'submission')}`;

function columnsOf(q: string | undefined): TableColumn<FoundSubmission>[] {
  return [
    {
      id: 'who',
      title: 'Submission',
      cell: (row) => (
        <span className="search-what">
          <Link {...submissionLink(row, q)} className="search-who">
            {senderOf(row) ?? <FirstAnswers row={row} />}
          </Link>
          <Link
            to="/forms/$form/submissions"
            params={{ form: row.form_id }}
            className="search-form soft small"
          >
            {row.metadata.form_name}
          </Link>
          <span className="search-when soft small">
            <Ago at={receivedAt(row)} />
          </span>
        </span>
      ),
    },
    ...(q === undefined
      ? []
      : [{ id: 'hit', title: 'Found in', cell: (row: FoundSubmission) => <HitOf row={row} /> }]),
    {
      id: 'status',
      title: 'Status',
      isSecondary: true,
      cell: ({ status }) => <StatusChip status={status} />,
    },
    { id: 'at', title: 'Received', isSecondary: true, cell: (row) => <Ago at={receivedAt(row)} /> },
  ];
}

/** Shows the first answers of a submission without a name, so that it can be recognized. */
function FirstAnswers({ row }: { row: FoundSubmission }): string {
  const { data } = useQuery(columnsQuery({ id: row.form_id, workspace_id: useWorkspace().id }));
  return (data && firstAnswers(row.answers, data).slice(0, 2).join(' · ')) || formatDateTime(receivedAt(row));
}

function HitOf({ row }: { row: FoundSubmission }): ReactElement | null {
  const hit = firstHit(row);
  if (!hit) return null;
  return (
    <span className="search-hit">
      <span className="soft">{hit.place}: </span>
      <HighlightedText text={hit.text} hits={hit.words} limit={hitCharacters} />
    </span>
  );
}

function Nothing({ view, total }: { view: View; total: number }): ReactElement {
  if (total > 0)
    return (
      <EmptyState icon="table" title="This page is past the end">
        Go back to an earlier page.
      </EmptyState>
    );
  return view.q === undefined ? (
    <EmptyState icon="table" title="No submissions yet">
      Submissions to any form in this workspace appear here.
    </EmptyState>
  ) : (
    <EmptyState icon="search" title="No matches">
      All words must occur. Try fewer words, or add * to a word to match its beginning: web*
    </EmptyState>
  );
}
