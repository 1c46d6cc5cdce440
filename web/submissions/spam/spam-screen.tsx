import './spam-screen.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { HeldRow, SpamPage } from '#submissions/held/shapes.ts';
import type { Column } from '#submissions/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { useForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { columnsQuery, type FormPlace } from '../queries.ts';
import { changeSelection } from '../selection/change-selection.ts';
import {
  firstAnswers,
  type RowSelection,
  SelectableCell,
  SelectableHead,
} from '../selection/selectable-cell.tsx';
import { HeldDialog } from './held-dialog.tsx';
import { reasons } from './reasons.ts';
import { SpamActions } from './spam-actions.tsx';
import { allowSite, spamQuery } from './spam-query.ts';
import { Message } from '../../design/message.tsx';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import { saySubmissions } from '../say-submissions.ts';

type Props = { form: FormPlace; sites: SpamPage['sites']; mayDecide: boolean };

/** Sites whose pages send this form and are not named in its settings: each is let in with one press. */
function HeldSites({ form, sites, mayDecide }: Props): ReactElement {
  const allow = useMutation({
    mutationFn: (origin: string) => allowSite(form, origin),
    onSuccess: (count) =>
      toastDone(`The site is allowed. ${saySubmissions(count)} moved to the submissions.`),
    onError: toastProblem,
  });
  return (
    <>
      {sites.map(({ origin, count }) => (
        <Message
          key={origin}
          tone="warn"
          title={`${saySubmissions(count)} came from a page of ${origin}`}
          action={
            mayDecide && (
              <Button icon="check" isPending={allow.isPending} onPress={() => allow.mutate(origin)}>
                Allow {origin} and release
              </Button>
            )
          }
        >
          Is it yours? Allowing names it in the settings, under Embedding: sites that are named there, and no
          others, may show this form and send it.
        </Message>
      ))}
    </>
  );
}

/** What looked like spam and was held: to be released into the submissions, or deleted. */
export function SpamScreen(): ReactElement {
  const form = useForm();
  const [page, setPage] = useState(1);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<string>();
  const { data, error, refetch } = useQuery(spamQuery(form, page));
  const columns = useQuery(columnsQuery(form));
  const isEditor = mayEdit(form.role);
  const rows = data?.data ?? [];
  const total = data?.pagination.total_count ?? 0;
  const clear = (): void => setSelected(new Set());
  const selection: RowSelection = {
    selected,
    select: (ids, isSelected) => setSelected(changeSelection(selected, ids, isSelected)),
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
          <HeldSites form={form} sites={data.sites} mayDecide={isEditor} />
          <DataTable
            label="Spam box"
            className="selectable-table spam-table"
            columns={columnsOf({
              rows,
              asked: columns.data,
              selection: isEditor ? selection : undefined,
              onOpen: setOpen,
            })}
            rows={rows}
            rowId={({ id }) => id}
          />
          <Pager label="Pages of the spam box" page={page} pagination={data.pagination} onChange={go} />
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
  asked: readonly Column[] | undefined;
  selection: RowSelection | undefined;
  onOpen: (id: string) => void;
};

function columnsOf({ rows, asked, selection, onOpen }: ColumnsOf): TableColumn<HeldRow>[] {
  return [
    {
      id: 'answers',
      title: <SelectableHead rows={rows} selection={selection} />,
      cell(row) {
        const [first, ...others] = firstAnswers(row.answers, asked);
        return (
          <SelectableCell row={row} selection={selection}>
            <Button variant="quiet" size="small" onPress={() => onOpen(row.id)}>
              {first ?? 'No answers'}
            </Button>
            <span className="soft small cut">{others.join(' · ')}</span>
          </SelectableCell>
        );
      },
    },
    { id: 'reason', title: 'Why', cell: ({ reason }) => <Chip tone="warn">{reasons[reason][0]}</Chip> },
    { id: 'created', title: 'Held', isSecondary: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
}
