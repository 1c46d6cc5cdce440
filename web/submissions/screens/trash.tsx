import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import type { Column } from '#submissions/shapes.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { StatusChip } from '../../design/chip.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, formatDate, receivedAt } from '../../design/time.tsx';
import { mayEdit, useCurrentForm } from '../../shell/session.ts';
import {
  type BulkChangeReply,
  columnsQuery,
  type FormLocation,
  formatSubmissionCount,
  trashQuery,
} from '../queries.ts';
import { addBulkChange, BulksProgress } from '../selection/bulk-progress.tsx';
import { answersColumn, type RowSelection, useSelection } from '../selection/selectable-cell.tsx';
import { unfilteredView } from '../view-state.ts';
import { countTrashDeletions } from './plan-removal.ts';

type Props = {
  form: FormLocation;
  selected: readonly string[];
  /** The number of submissions in the trash, and how many are deleted at a time. */
  total: number;
  atOnce: number;
  /** Runs after the selection was restored or deleted. */
  onDone: () => void;
  onStart: (bulk: BulkChangeReply) => void;
};

/** The actions for a selection in the trash, or for the whole trash. */
function TrashActions({ form, selected, total, atOnce, onDone, onStart }: Props): ReactElement {
  const { count, rest } = countTrashDeletions({ selected: selected.length, total, atOnce });
  const what = formatSubmissionCount(count);
  const place = { params: { id: form.id } };
  const restore = useAction({
    run: () =>
      callOperation(form.workspace_id, 'restoreSubmissions', {
        ...place,
        body: { ids: [...selected] },
      }),
    done: ({ restored }) => `${formatSubmissionCount(restored)} restored.`,
    onDone,
    problem: 'toast',
  });
  const empty = useAction({
    run: () =>
      callOperation(form.workspace_id, 'emptyTrash', {
        ...place,
        body: {
          ...(selected.length > 0 ? { ids: [...selected] } : { everything: true as const }),
          expected: count,
        },
      }),
    confirm: {
      title: `Permanently delete ${what}?`,
      label: `Delete ${what}`,
      typed: String(count),
      text: (
        <>
          <p>
            This cannot be undone. Their files are deleted too, and subscribed webhooks are notified of the
            deletion of each completed submission.
          </p>
          {rest > 0 && (
            <p>
              At most {atOnce.toLocaleString()} are deleted at a time, most recently deleted first.{' '}
              {formatSubmissionCount(rest)} will stay in the trash for now.
            </p>
          )}
        </>
      ),
    },
    onDone(bulk) {
      onDone();
      onStart(bulk);
    },
  });
  return (
    <>
      <Button icon="undo" isDisabled={selected.length === 0} {...restore.press()}>
        Restore
      </Button>
      <Button icon="remove" {...empty.press()}>
        {selected.length === 0 ? 'Empty trash' : 'Delete permanently'}
      </Button>
      {empty.dialog}
    </>
  );
}

/** Lists submissions deleted in the last 30 days, to restore or delete permanently. */
export function TrashScreen(): ReactElement {
  const form = useCurrentForm();
  const [page, setPage] = useState(1);
  const { ids: selected, clear, select } = useSelection(form.id, unfilteredView);
  const query = useQuery(trashQuery(form, page));
  const columns = useQuery(columnsQuery(form));
  const isEditor = mayEdit(form.role);
  const total = query.data?.pagination.total_count ?? 0;
  return (
    <Page
      title="Trash"
      lead={
        <>
          Submissions can be restored until the retention period of the trash ends.{' '}
          <Link to="/forms/$form/submissions" params={{ form: form.id }}>
            Back to submissions
          </Link>
        </>
      }
      actions={
        isEditor &&
        query.data &&
        total > 0 && (
          <TrashActions
            form={form}
            selected={[...selected]}
            total={total}
            atOnce={query.data.at_once}
            onDone={clear}
            onStart={(bulk) => addBulkChange(form, bulk)}
          />
        )
      }
    >
      <BulksProgress form={form} />
      <QueryState
        query={query}
        empty={
          page === 1 && (
            <EmptyState icon="remove" title="The trash is empty">
              <p>
                Submissions deleted in the console are moved here. After the number of days that Retention
                sets, they are permanently deleted with their files, and subscribed webhooks are notified.
              </p>
            </EmptyState>
          )
        }
      >
        {({ data, pagination }) => (
          <>
            <DataTable
              label="Trash"
              className="selectable-table"
              columns={columnsOf(data, isEditor ? { selected, select } : undefined, columns.data)}
              rows={data}
              rowId={({ id }) => id}
            />
            <Pager label="Pages of the trash" page={page} pagination={pagination} onChange={setPage} />
          </>
        )}
      </QueryState>
    </Page>
  );
}

type Row = ReplyOf<'listTrash'>['data'][number];

function columnsOf(
  rows: readonly Row[],
  selection: RowSelection | undefined,
  columns: readonly Column[] | undefined,
): TableColumn<Row>[] {
  return [
    answersColumn(rows, selection, columns, (first) => <span>{first}</span>),
    { id: 'received', title: 'Received', isSecondary: true, cell: (row) => <Ago at={receivedAt(row)} /> },
    {
      id: 'status',
      title: 'Status',
      isSecondary: true,
      cell: ({ status }) => <StatusChip status={status} />,
    },
    {
      id: 'trashed',
      title: 'Deleted',
      cell: ({ trashed_at, trashed_by }) => (
        <span className="selectable-words">
          <Ago at={trashed_at} />
          <span className="soft small">by {trashed_by ?? 'a deleted account'}</span>
        </span>
      ),
    },
    {
      id: 'removed',
      title: 'Permanent deletion',
      isSecondary: true,
      cell: ({ removed_at }) => <time dateTime={removed_at}>{formatDate(removed_at)}</time>,
    },
  ];
}
