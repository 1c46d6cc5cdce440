import './spam-screen.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { HeldRow } from '#console/spam/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Checkbox } from '../../design/checkbox.tsx';
import { Chip } from '../../design/chip.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, sayMoment } from '../../design/time.tsx';
import { useForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { sayWhole } from '../answer-text.tsx';
import { rowsOfPage } from '../queries.ts';
import { HeldDialog } from './held-dialog.tsx';
import { reasons } from './reasons.ts';
import { SpamActions } from './spam-actions.tsx';
import { spamQuery } from './spam-query.ts';

/** What looked like spam and was held: to be released into the submissions, or deleted. */
export function SpamScreen(): ReactElement {
  const form = useForm();
  const [page, setPage] = useState(1);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<string>();
  const { data, error, refetch } = useQuery(spamQuery(form, page));
  const isEditor = mayEdit(form.role);
  const rows = data?.data ?? [];
  const total = data?.pagination.total_count ?? 0;
  const clear = (): void => setSelected(new Set());
  const select = (ids: readonly string[], isSelected: boolean): void => {
    const next = new Set(selected);
    for (const id of ids) {
      if (isSelected) next.add(id);
      else next.delete(id);
    }
    setSelected(next);
  };
  const go = (to: number): void => {
    clear();
    setPage(to);
  };
  return (
    <Page
      title="Spam box"
      lead={
        <>
          Held for 30 days. Nothing here counts, and no webhook was told.{' '}
          <Link to="/forms/$form/submissions" params={{ form: form.id }}>
            Back to the submissions
          </Link>
        </>
      }
      actions={isEditor && rows.length > 0 && <SpamActions form={form} ids={[...selected]} onDone={clear} />}
    >
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading label="Loading the spam box …" />
      ) : total === 0 ? (
        <NothingHeld formId={form.id} />
      ) : (
        <>
          <DataTable
            label="Spam box"
            className="spam-table"
            columns={columnsOf({ rows, ...(isEditor && { selected, select }), onOpen: setOpen })}
            rows={rows}
            rowId={({ id }) => id}
          />
          <Pager label="Pages of the spam box" page={page} total={total} perPage={rowsOfPage} onChange={go} />
        </>
      )}
      {open !== undefined && (
        <HeldDialog form={form} id={open} mayDecide={isEditor} onClose={() => setOpen(undefined)} />
      )}
    </Page>
  );
}

function NothingHeld({ formId }: { formId: string }): ReactElement {
  return (
    <EmptyState icon="check" title="No spam">
      <p>
        What looks like spam is held here instead of being stored: whoever fills in a field that people do not
        see, or is quicker than people are. You decide what becomes of it; after 30 days it is deleted. How
        strict this form is you choose in its{' '}
        <Link to="/forms/$form" params={{ form: formId }}>
          settings
        </Link>
        .
      </p>
    </EmptyState>
  );
}

type ColumnsOf = {
  rows: readonly HeldRow[];
  selected?: ReadonlySet<string>;
  select?: (ids: readonly string[], isSelected: boolean) => void;
  onOpen: (id: string) => void;
};

function columnsOf({ rows, selected, select, onOpen }: ColumnsOf): TableColumn<HeldRow>[] {
  const ids = rows.map(({ id }) => id);
  const isAll = selected !== undefined && ids.every((id) => selected.has(id));
  return [
    {
      id: 'answers',
      title: select ? (
        <Checkbox isSelected={isAll} onChange={(isSelected) => select(ids, isSelected)}>
          Select all of this page
        </Checkbox>
      ) : (
        'Answers'
      ),
      cell: (row) => (
        <span className="spam-row">
          {select && (
            <Checkbox
              aria-label={`Select the submission of ${sayMoment(row.created_at)}`}
              isSelected={selected?.has(row.id) ?? false}
              onChange={(isSelected) => select([row.id], isSelected)}
            />
          )}
          <span className="spam-words">
            <Button variant="quiet" size="small" className="cut" onPress={() => onOpen(row.id)}>
              {sayAnswers(row)[0] ?? 'No answers'}
            </Button>
            <span className="soft small cut">{sayAnswers(row).slice(1).join(' · ')}</span>
          </span>
        </span>
      ),
    },
    { id: 'reason', title: 'Why', cell: ({ reason }) => <Chip tone="warn">{reasons[reason][0]}</Chip> },
    { id: 'created', title: 'Held', isSecondary: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
}

/** The first few answers, by which a person tells spam from what is not. */
const sayAnswers = ({ answers }: HeldRow): string[] =>
  Object.values(answers)
    .slice(0, 4)
    .map((value) => sayWhole(value).slice(0, 100));
