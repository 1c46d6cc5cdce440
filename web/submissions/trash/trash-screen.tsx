import './trash-screen.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { TrashedRow } from '#console/submissions/shapes.ts';
import { Checkbox } from '../../design/checkbox.tsx';
import { StatusChip } from '../../design/chip.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, sayDay, sayMoment } from '../../design/time.tsx';
import { useForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { sayWhole } from '../answer-text.tsx';
import { rowsOfPage, trashQuery } from '../queries.ts';
import { RemovalProgress } from '../removal-progress.tsx';
import { TrashActions } from './trash-actions.tsx';

/** What was deleted within 30 days: to be taken back, or deleted for good. */
export function TrashScreen(): ReactElement {
  const form = useForm();
  const [page, setPage] = useState(1);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [removals, setRemovals] = useState<readonly string[]>([]);
  const { data, error, refetch } = useQuery(trashQuery(form, page));
  const isEditor = mayEdit(form.role);
  const total = data?.pagination.total_count ?? 0;
  const clear = (): void => setSelected(new Set());
  const select = (id: string, isSelected: boolean): void => {
    const next = new Set(selected);
    if (isSelected) next.add(id);
    else next.delete(id);
    setSelected(next);
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
        total > 0 && (
          <TrashActions
            form={form}
            selected={[...selected]}
            total={total}
            onDone={clear}
            onStart={(id) => setRemovals([...removals, id])}
          />
        )
      }
    >
      {removals.map((id) => (
        <RemovalProgress
          key={id}
          form={form}
          id={id}
          onDone={(done) => setRemovals((before) => before.filter((other) => other !== done))}
        />
      ))}
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
            className="trash-table"
            columns={columnsOf(isEditor ? { selected, select } : undefined)}
            rows={data.data}
            rowId={({ id }) => id}
          />
          <Pager
            label="Pages of the trash"
            page={page}
            total={total}
            perPage={rowsOfPage}
            onChange={setPage}
          />
        </>
      )}
    </Page>
  );
}

type Selection = { selected: ReadonlySet<string>; select: (id: string, isSelected: boolean) => void };

function columnsOf(selection: Selection | undefined): TableColumn<TrashedRow>[] {
  return [
    {
      id: 'submission',
      title: 'Submission',
      cell: (row) => (
        <span className="trash-row">
          {selection && (
            <Checkbox
              aria-label={`Select the submission of ${sayMoment(row.created_at)}`}
              isSelected={selection.selected.has(row.id)}
              onChange={(isSelected) => selection.select(row.id, isSelected)}
            />
          )}
          <span className="trash-words">
            <span>{sayMoment(row.created_at)}</span>
            <span className="soft small cut">{sayAnswers(row)}</span>
          </span>
        </span>
      ),
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
        <span className="trash-words">
          <Ago at={trashed_at} />
          <span className="soft small">by {trashed_by ?? 'somebody who is gone'}</span>
        </span>
      ),
    },
    {
      id: 'removed',
      title: 'Gone for good',
      isSecondary: true,
      cell: ({ removed_at }) => sayDay(removed_at),
    },
  ];
}

/** The first few answers, by which a person knows a submission again. */
const sayAnswers = ({ answers }: TrashedRow): string =>
  Object.values(answers)
    .slice(0, 4)
    .map((value) => sayWhole(value))
    .join(' · ')
    .slice(0, 200);
