import '../panel/panel.css';
import './spam-screen.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { Column } from '#submissions/shapes.ts';
import type { SpamPage, SpamRow } from '#submissions/spam-endpoints.ts';
import { call } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, sayMoment } from '../../design/time.tsx';
import { useForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { AnswersView } from '../panel/answers-view.tsx';
import { ReferenceView } from '../panel/sections.tsx';
import { columnsQuery, type FormPlace, heldQuery, saySubmissions, spamQuery } from '../queries.ts';
import {
  changeSelection,
  firstAnswers,
  type RowSelection,
  SelectableCell,
  SelectableHead,
} from '../selection/selectable-cell.tsx';

/** Why something was held: in a word or two, and as a sentence. */
const reasons = {
  honeypot: ['Hidden field', 'It filled in a field that people do not see.'],
  too_fast: ['Too fast', 'It came sooner after its page than this form’s least seconds.'],
  no_page: ['No page', 'It was sent without opening the page of the form.'],
  other_site: [
    'Other site',
    'It was sent by a page of another site, which this form’s settings do not name.',
  ],
  no_proof: ['No proof of work', 'It came without the work that this form asks of browsers.'],
} as const satisfies Record<SpamRow['reason'], readonly [word: string, sentence: string]>;

type ActionsProps = {
  form: FormPlace;
  ids: readonly string[];
  /** Called when these are dealt with. */
  onDone: () => void;
};

/** What is done with some of the spam box. */
function SpamActions({ form, ids, onDone }: ActionsProps): ReactElement {
  const place = { params: { id: form.id }, body: { ids: [...ids] } };
  const release = useAction({
    run: () => call(form.workspace_id, 'releaseSpam', place),
    done: ({ count }) => `${saySubmissions(count)} moved to the submissions.`,
    onDone,
    problem: 'toast',
  });
  const remove = useAction({
    run: () => call(form.workspace_id, 'deleteSpam', place),
    confirm: {
      title: `Delete ${saySubmissions(ids.length)}?`,
      label: 'Delete',
      text: 'Their answers and files are gone for good. No webhook is told, as none was told that they came.',
    },
    done: ({ count }) => `${saySubmissions(count)} deleted.`,
    onDone,
  });
  return (
    <>
      <Button icon="check" isDisabled={ids.length === 0} {...release.press()}>
        Not spam
      </Button>
      <Button icon="remove" isDisabled={ids.length === 0 || release.isPending} {...remove.press()}>
        Delete
      </Button>
      {remove.dialog}
    </>
  );
}

type HeldProps = { form: FormPlace; id: string; mayDecide: boolean; onClose: () => void };

/** One of the spam box: why it is there, and what it says. */
function HeldDialog({ form, id, mayDecide, onClose }: HeldProps): ReactElement {
  const query = useQuery(heldQuery(form, id));
  const { data } = query;
  const columns = useQuery(columnsQuery(form));
  return (
    <Dialog
      title={
        data ? (firstAnswers(data.answers, columns.data)[0] ?? sayMoment(data.created_at)) : 'Held submission'
      }
      isOpen
      onClose={onClose}
      size="side"
      actions={data && mayDecide && <SpamActions form={form} ids={[id]} onDone={onClose} />}
    >
      <QueryState query={query} lines={5} label="Loading …">
        {(held) => (
          <>
            <Message tone="warn">
              {reasons[held.reason][1]} {held.origin !== null && `The site: ${held.origin}.`}{' '}
              {sayOthers(held.others)}
            </Message>
            <AnswersView submission={{ ...held, hits: [] }} />
            <ReferenceView submission={{ ...held, hits: [] }} />
          </>
        )}
      </QueryState>
    </Dialog>
  );
}

function sayOthers(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? 'One other here came from the same address.'
    : `${count.toLocaleString()} others here came from the same address.`;
}

type Props = { form: FormPlace; sites: SpamPage['sites']; mayDecide: boolean };

/** Sites whose pages send this form and are not named in its settings: each is let in with one press. */
function HeldSites({ form, sites, mayDecide }: Props): ReactElement {
  const allow = useAction({
    run: (origin: string) =>
      call(form.workspace_id, 'allowSite', { params: { id: form.id }, body: { origin } }),
    done: ({ count }) => `The site is allowed. ${saySubmissions(count)} moved to the submissions.`,
    problem: 'toast',
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
              <Button icon="check" {...allow.press(origin)}>
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
  const query = useQuery(spamQuery(form, page));
  const columns = useQuery(columnsQuery(form));
  const isEditor = mayEdit(form.role);
  const rows = query.data?.data ?? [];
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
      <QueryState
        query={query}
        label="Loading the spam box …"
        empty={query.data?.pagination.total_count === 0 && <NothingHeld formId={form.id} />}
      >
        {({ data, sites, pagination }) => (
          <>
            <HeldSites form={form} sites={sites} mayDecide={isEditor} />
            <DataTable
              label="Spam box"
              className="selectable-table spam-table"
              columns={columnsOf({
                rows: data,
                asked: columns.data,
                selection: isEditor ? selection : undefined,
                onOpen: setOpen,
              })}
              rows={data}
              rowId={({ id }) => id}
            />
            <Pager label="Pages of the spam box" page={page} pagination={pagination} onChange={go} />
          </>
        )}
      </QueryState>
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
  rows: readonly SpamRow[];
  asked: readonly Column[] | undefined;
  selection: RowSelection | undefined;
  onOpen: (id: string) => void;
};

function columnsOf({ rows, asked, selection, onOpen }: ColumnsOf): TableColumn<SpamRow>[] {
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
