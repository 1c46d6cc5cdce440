import '../panel/panel.css';
import './spam-screen.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { Column } from '#submissions/shapes.ts';
import type { SpamPage, SpamRow } from '#submissions/spam-endpoints.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, formatDateTime } from '../../design/time.tsx';
import { mayEdit, useCurrentForm } from '../../shell/session.ts';
import { AnswersView } from '../panel/answers-view.tsx';
import { ReferenceDataView } from '../panel/sections.tsx';
import {
  columnsQuery,
  type FormLocation,
  formatSubmissionCount,
  spamDetailQuery,
  spamQuery,
} from '../queries.ts';
import {
  answersColumn,
  firstAnswers,
  type RowSelection,
  useSelection,
} from '../selection/selectable-cell.tsx';
import { unfilteredView } from '../view-state.ts';

/** The reasons for spam: a short label and a sentence. */
const reasons = {
  honeypot: ['Honeypot', 'A field that people cannot see was filled in.'],
  too_fast: ['Too fast', 'It was submitted faster than the minimum completion time.'],
  no_page: ['Form not opened', 'It was sent without opening the form.'],
  other_site: ['Other website', 'It was sent from a website that is not listed in the form’s settings.'],
  no_proof: ['No proof of work', 'The browser did not complete the proof of work that this form requires.'],
} as const satisfies Record<SpamRow['reason'], readonly [word: string, sentence: string]>;

type ActionsProps = {
  form: FormLocation;
  ids: readonly string[];
  /** Runs after the submissions were released or deleted. */
  onDone: () => void;
};

/** The actions for selected spam. */
function SpamActions({ form, ids, onDone }: ActionsProps): ReactElement {
  const place = { params: { id: form.id }, body: { ids: [...ids] } };
  const release = useAction({
    run: () => callOperation(form.workspace_id, 'releaseSpam', place),
    done: ({ count }) => `${formatSubmissionCount(count)} released from spam.`,
    onDone,
    problem: 'toast',
  });
  const remove = useAction({
    run: () => callOperation(form.workspace_id, 'deleteSpam', place),
    confirm: {
      title: `Delete ${formatSubmissionCount(ids.length)}?`,
      label: 'Delete',
      text: 'Their answers and files are permanently deleted. No webhooks are notified.',
    },
    done: ({ count }) => `${formatSubmissionCount(count)} deleted.`,
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

type SpamDialogProps = { form: FormLocation; id: string; mayDecide: boolean; onClose: () => void };

/** Shows one spam submission and why it was held. */
function SpamDialog({ form, id, mayDecide, onClose }: SpamDialogProps): ReactElement {
  const query = useQuery(spamDetailQuery(form, id));
  const { data } = query;
  const columns = useQuery(columnsQuery(form));
  return (
    <Dialog
      title={
        data
          ? (firstAnswers(data.answers, columns.data)[0] ?? formatDateTime(data.created_at))
          : 'Spam submission'
      }
      onClose={onClose}
      size="side"
      actions={data && mayDecide && <SpamActions form={form} ids={[id]} onDone={onClose} />}
    >
      <QueryState query={query} lines={5} label="Loading…">
        {(spam) => (
          <>
            <Message tone="warn">
              {reasons[spam.reason][1]} {spam.origin !== null && `Website: ${spam.origin}.`}{' '}
              {describeOtherSpam(spam.others)}
            </Message>
            <AnswersView submission={{ ...spam, hits: [] }} />
            <ReferenceDataView submission={{ ...spam, hits: [] }} />
          </>
        )}
      </QueryState>
    </Dialog>
  );
}

function describeOtherSpam(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? 'Another spam submission came from the same IP address.'
    : `${count.toLocaleString()} other spam submissions came from the same IP address.`;
}

type Props = { form: FormLocation; sites: SpamPage['sites']; mayDecide: boolean };

/** Websites that submit this form and are not listed in its settings. Each can be allowed with one button. */
function UnlistedSites({ form, sites, mayDecide }: Props): ReactElement {
  const allow = useAction({
    run: (origin: string) =>
      callOperation(form.workspace_id, 'allowSite', { params: { id: form.id }, body: { origin } }),
    done: ({ count }) => `The website was allowed. ${formatSubmissionCount(count)} released from spam.`,
    problem: 'toast',
  });
  return (
    <>
      {sites.map(({ origin, count }) => (
        <Message
          key={origin}
          tone="warn"
          title={`${formatSubmissionCount(count)} came from ${origin}`}
          action={
            mayDecide && (
              <Button icon="check" {...allow.press(origin)}>
                Allow {origin} and release
              </Button>
            )
          }
        >
          Is this your website? Allowing it adds it to the settings, under Embedding. Only websites listed
          there can show and submit this form.
        </Message>
      ))}
    </>
  );
}

/** Lists suspected spam, to be released or deleted. */
export function SpamScreen(): ReactElement {
  const form = useCurrentForm();
  const [page, setPage] = useState(1);
  const { ids: selected, clear, select } = useSelection(form.id, unfilteredView);
  const [open, setOpen] = useState<string>();
  const query = useQuery(spamQuery(form, page));
  const columns = useQuery(columnsQuery(form));
  const isEditor = mayEdit(form.role);
  const rows = query.data?.data ?? [];
  const go = (to: number): void => {
    clear();
    setPage(to);
  };
  return (
    <Page
      title="Spam"
      lead={
        <>
          Kept for 30 days. Spam is not counted, and webhooks are not notified.{' '}
          <Link to="/forms/$form/submissions" params={{ form: form.id }}>
            Back to submissions
          </Link>
        </>
      }
      actions={isEditor && rows.length > 0 && <SpamActions form={form} ids={[...selected]} onDone={clear} />}
    >
      <QueryState
        query={query}
        label="Loading spam…"
        empty={query.data?.pagination.total_count === 0 && <NoSpam formId={form.id} />}
      >
        {({ data, sites, pagination }) => (
          <>
            <UnlistedSites form={form} sites={sites} mayDecide={isEditor} />
            <DataTable
              label="Spam"
              className="selectable-table spam-table"
              columns={columnsOf({
                rows: data,
                columns: columns.data,
                selection: isEditor ? { selected, select } : undefined,
                onOpen: setOpen,
              })}
              rows={data}
              rowId={({ id }) => id}
            />
            <Pager label="Pages of spam" page={page} pagination={pagination} onChange={go} />
          </>
        )}
      </QueryState>
      {open !== undefined && (
        <SpamDialog form={form} id={open} mayDecide={isEditor} onClose={() => setOpen(undefined)} />
      )}
    </Page>
  );
}

function NoSpam({ formId }: { formId: string }): ReactElement {
  return (
    <EmptyState icon="check" title="No spam">
      <p>
        Suspected spam is kept here, for example if a hidden field was filled in or the form was submitted too
        fast. If you do not release it, it is deleted after 30 days. You can adjust spam protection in the
        form’s{' '}
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
  columns: readonly Column[] | undefined;
  selection: RowSelection | undefined;
  onOpen: (id: string) => void;
};

function columnsOf({ rows, columns, selection, onOpen }: ColumnsOf): TableColumn<SpamRow>[] {
  return [
    answersColumn(rows, selection, columns, (first, row) => (
      <Button variant="quiet" size="small" onPress={() => onOpen(row.id)}>
        {first}
      </Button>
    )),
    { id: 'reason', title: 'Reason', cell: ({ reason }) => <Chip tone="warn">{reasons[reason][0]}</Chip> },
    {
      id: 'created',
      title: 'Received',
      isSecondary: true,
      cell: ({ created_at }) => <Ago at={created_at} />,
    },
  ];
}
