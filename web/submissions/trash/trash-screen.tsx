import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { StatusChip } from '../../design/chip.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, sayDay } from '../../design/time.tsx';
import { useForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import type { ReplyOf } from '#app/operations.ts';
import type { Column } from '#submissions/shapes.ts';
import { columnsQuery, trashQuery } from '../queries.ts';
import { receivedAt } from '../../api/received-at.ts';
import { BulksProgress } from '../selection/bulk-progress.tsx';
import { changeSelection } from '../selection/change-selection.ts';
import { beginBulk } from '../selection/follow-bulk.ts';
import {
  firstAnswers,
  type RowSelection,
  SelectableCell,
  SelectableHead,
} from '../selection/selectable-cell.tsx';
import { TrashActions } from './trash-actions.tsx';

/** What was deleted within 30 days: to be taken back, or deleted for good. */
export function TrashScreen(): ReactElement {
  const form = useForm();
  const [page, setPage] = useState(1);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { data, error, refetch } = useQuery(trashQuery(form, page));
  const columns = useQuery(columnsQuery(form));
  const isEditor = mayEdit(form.role);
  const total = data?.pagination.total_count ?? 0;
  const clear = (): void => setSelected(new Set());
  const selection: RowSelection = {
    selected,
    select: (ids, isSelected) => setSelected(changeSelection(selected, ids, isSelected)),
  };
  return (
    <Page
      title="Trash"
      lead={
        <>
          Deleted submissions can be restored for 30 days.{' '}
          <Link to="/forms/$form/submissions" params={{ form: form.id }}>
            Back to the submissions
          </Link>
        </>
      }
      actions={
        isEditor &&
        data &&
        total > 0 && (
          <TrashActions
            form={form}
            selected={[...selected]}
            total={total}
            atOnce={data.at_once}
            onDone={clear}
            onStart={(bulk) => beginBulk(form, bulk)}
          />
        )
      }
    >
      <BulksProgress form={form} />
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading />
      ) : data.data.length === 0 && page === 1 ? (
        <EmptyState icon="remove" title="The trash is empty">
          <p>
            Submissions that are deleted in the console come here first. After 30 days they are deleted for
            good, with their files, and webhooks that listen are told.
          </p>
        </EmptyState>
      ) : (
        <>
          <DataTable
            label="Trash"
            className="selectable-table"
            columns={columnsOf(data.data, isEditor ? selection : undefined, columns.data)}
            rows={data.data}
            rowId={({ id }) => id}
          />
          <Pager label="Pages of the trash" page={page} pagination={data.pagination} onChange={setPage} />
        </>
      )}
    </Page>
  );
}

type Row = ReplyOf<'listTrash'>['data'][number];

function columnsOf(
  rows: readonly Row[],
  selection: RowSelection | undefined,
  asked: readonly Column[] | undefined,
): TableColumn<Row>[] {
  return [
    {
      id: 'submission',
      title: <SelectableHead rows={rows} selection={selection} />,
      cell(row) {
        const [first, ...others] = firstAnswers(row.answers, asked);
        return (
          <SelectableCell row={row} selection={selection}>
            <span>{first ?? 'No answers'}</span>
            <span className="soft small cut">{others.join(' · ')}</span>
          </SelectableCell>
        );
      },
    },
    {
      id: 'received',
      title: 'Received',
      isSecondary: true,
      cell: (row) => <Ago at={receivedAt(row)} />,
    },
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
          <span className="soft small">by {trashed_by ?? 'somebody who is gone'}</span>
        </span>
      ),
    },
    {
      id: 'removed',
      title: 'Gone for good',
      isSecondary: true,
      cell: ({ removed_at }) => <time dateTime={removed_at}>{sayDay(removed_at)}</time>,
    },
  ];
}
