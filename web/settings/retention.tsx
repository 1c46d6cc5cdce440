import './mail.css';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { sayCount } from '#ast/basics/say-count.ts';
import { call, readQuery } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { CardForm } from '../design/fields.tsx';
import { FormDialog } from '../design/form-dialog.tsx';
import { Message } from '../design/message.tsx';
import { NumberInput } from '../design/number-input.tsx';
import { Card, Page } from '../design/page.tsx';
import { Select } from '../design/select.tsx';
import { ErrorState, QueryState } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { sayDay } from '../design/time.tsx';
import { formNamesQuery, useWorkspace, type WorkspaceDetail } from './workspace.ts';

type RetentionRule = ReplyOf<'getRetention'>['rules'][number];
type RetentionKind = RetentionRule['kind'];
type Due = ReplyOf<'previewRetention'>['data'][number];
/** Whose rules: of the workspace, or of one of its forms. */
type RetentionPlace = { workspace: string; form: string | undefined };
type Days = RetentionRule['days'] | null;

const retentionQuery = ({ workspace, form }: RetentionPlace) =>
  queryOptions({
    queryKey: ['getRetention', workspace, form ?? ''],
    queryFn: () => readRetention({ workspace, form }),
    staleTime: 0,
  });

/** `audit_days`: of the workspace alone. */
async function readRetention({ workspace, form }: RetentionPlace) {
  if (form === undefined) return call(workspace, 'getRetention', {});
  const found = await call(workspace, 'getFormRetention', { params: { id: form } });
  return { ...found, audit_days: undefined };
}

/** What goes when; with a change, as it would be. */
const dueQuery = ({ workspace, form }: RetentionPlace, change?: { kind: RetentionKind; days: Days }) =>
  queryOptions({
    ...readQuery(workspace, 'previewRetention', {
      body: { ...(form !== undefined && { form_id: form }), ...(change && { [change.kind]: change.days }) },
    }),
    select: ({ data }) => new Map(data.map((due) => [due.kind, due])),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

/** Says for how long something is kept. */
async function saveDays(
  { workspace, form }: RetentionPlace,
  { kind, days }: { kind: RetentionKind; days: Days },
  seen: { updated_at: string },
): Promise<void> {
  const body = { [kind]: days };
  await (form === undefined
    ? call(workspace, 'changeRetention', { body }, { seen })
    : call(workspace, 'changeFormRetention', { params: { id: form }, body }, { seen }));
}

const kindWords = {
  submissions: 'Submissions',
  incomplete: 'Begun and never completed',
  files: 'Uploaded files',
  mails: 'Log of mails',
  deliveries: 'Webhook deliveries',
  trash: 'Trash',
} as const satisfies Record<RetentionKind, string>;

const sources = {
  form: 'this form says so',
  workspace: 'the workspace says so',
  default: 'unless you say otherwise',
  operator: 'the service says so',
} as const satisfies Record<RetentionRule['said_by'], string>;

const saySource = ({ said_by }: RetentionRule): string => sources[said_by];

const sayDays = (days: RetentionRule['days']): string =>
  days === 'forever' ? 'Until deleted' : sayCount(days, 'day');

const most = 10_000;
const sayAmount = (amount: number): string =>
  amount > most ? `more than ${most.toLocaleString()}` : amount.toLocaleString();

/** What a rule takes away soon, in a sentence. */
function sayDue({ due_now, due_in_7_days, due_in_30_days }: Due): string {
  if (due_in_30_days === 0) return 'Nothing goes within 30 days.';
  const week = due_in_7_days === 0 ? '' : `${sayAmount(due_in_7_days)} within a week, `;
  const soon = `${week}${sayAmount(due_in_30_days)} within 30 days.`;
  return due_now === 0 ? soon : `${sayAmount(due_now)} within minutes, for good; ${soon}`;
}

type Choice = 'usual' | 'days' | 'forever';

/** Says for how long something is kept, with what that takes away before it is saved. */
function DaysDialog({
  place,
  rule,
  seen,
  onClose,
}: {
  place: RetentionPlace;
  rule: RetentionRule;
  seen: { updated_at: string };
  onClose: () => void;
}): ReactElement {
  const isOwn = rule.said_by === (place.form === undefined ? 'workspace' : 'form');
  const [choice, setChoice] = useState<Choice>(
    !isOwn ? 'usual' : rule.days === 'forever' ? 'forever' : 'days',
  );
  const [number, setNumber] = useState(typeof rule.days === 'number' ? rule.days : undefined);
  const days: Days = choice === 'usual' ? null : choice === 'forever' ? 'forever' : (number ?? null);
  const isFit = choice !== 'days' || (number !== undefined && number >= 1 && number <= rule.most_days);
  const due = useQuery({ ...dueQuery(place, { kind: rule.kind, days }), enabled: isFit });
  const save = useAction({
    run: () => saveDays(place, { kind: rule.kind, days }, seen),
    done: 'It is kept for as long as you say.',
    onDone: onClose,
  });
  const usual = place.form === undefined ? 'As usual' : 'As the workspace says';
  const found = due.data?.get(rule.kind);
  return (
    <FormDialog
      title={kindWords[rule.kind]}
      description={rule.means}
      isOpen
      onClose={onClose}
      onSubmit={() => isFit && save.mutate()}
      submitLabel={found && found.due_now > 0 ? 'Save, and erase what is over' : 'Save'}
      action={save}
    >
      <Select
        label="Kept"
        value={choice}
        choices={[
          { id: 'usual', label: usual },
          { id: 'days', label: 'For some days' },
          ...(rule.may_stay ? [{ id: 'forever' as const, label: 'Until somebody deletes it' }] : []),
        ]}
        onChange={setChoice}
      />
      {choice === 'days' && (
        <NumberInput
          label="Days"
          isWhole
          value={number}
          onChange={setNumber}
          error={
            save.of(rule.kind) ?? (isFit ? undefined : `From 1 to ${rule.most_days.toLocaleString()} days.`)
          }
        />
      )}
      {isFit && due.error && <Message tone="bad">What goes could not be read: {due.error.message}</Message>}
      {isFit && found && <Message tone={found.due_now > 0 ? 'warn' : 'info'}>{sayDue(found)}</Message>}
    </FormDialog>
  );
}

/** For how long the activity is kept: for owners to say, as it tells what everybody else did. */
function AuditDays({
  workspace,
  auditDays,
  seen,
}: {
  workspace: WorkspaceDetail;
  auditDays: number;
  seen: { updated_at: string };
}): ReactElement {
  const [days, setDays] = useState<number | undefined>(auditDays);
  const save = useAction({
    run: () => call(workspace.id, 'changeRetention', { body: { audit_days: days ?? 0 } }, { seen }),
    done: 'The activity is kept for as long as you say.',
  });
  const isOwner = workspace.role === 'owner';
  return (
    <Card title="Activity" lead="Who did what, which nobody can change; from 30 days to ten years.">
      <CardForm label={isOwner ? 'Save days' : undefined} action={save} onSubmit={save.mutate}>
        <NumberInput
          label="Days of activity"
          isWhole
          isReadOnly={!isOwner}
          description={isOwner ? undefined : 'Owners decide about it.'}
          value={days}
          onChange={setDays}
          error={save.of('audit_days')}
        />
      </CardForm>
    </Card>
  );
}

type Row = RetentionRule & { due: Due | undefined };

/** For how long the workspace, and each form where it says otherwise, keeps what, and what goes when. */
export function RetentionScreen(): ReactElement {
  const workspace = useWorkspace();
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const form = typeof search['form'] === 'string' ? search['form'] : undefined;
  const place = { workspace: workspace.id, form };
  const rules = useQuery(retentionQuery(place));
  const due = useQuery(dueQuery(place));
  const forms = useQuery(formNamesQuery(workspace.id));
  const [changed, setChanged] = useState<RetentionRule['kind'] | undefined>();
  const rule = rules.data?.rules.find(({ kind }) => kind === changed);
  const columns: readonly TableColumn<Row>[] = [
    {
      id: 'what',
      title: 'What',
      cell: ({ kind, means }) => (
        <div className="mail-what">
          <span>{kindWords[kind]}</span>
          <span className="soft small">{means}</span>
        </div>
      ),
    },
    {
      id: 'kept',
      title: 'Kept for',
      cell: (row) => (
        <div className="mail-what">
          <span>{sayDays(row.days)}</span>
          <span className="soft small">{saySource(row)}</span>
        </div>
      ),
    },
    {
      id: 'soon',
      title: 'Goes soon',
      isSecondary: true,
      cell: ({ due }) =>
        !due ? (
          '…'
        ) : due.due_in_30_days === 0 ? (
          <span className="soft">Nothing</span>
        ) : (
          <div className="mail-what">
            <span>{sayDue(due)}</span>
            {due.next_at && <span className="soft small">The next on {sayDay(due.next_at)}</span>}
          </div>
        ),
    },
    {
      id: 'change',
      title: <span className="unseen">Change</span>,
      isNumeric: true,
      cell: ({ kind }) => (
        <Button
          size="small"
          aria-label={`Change ${kindWords[kind].toLowerCase()}`}
          onPress={() => setChanged(kind)}
        >
          Change
        </Button>
      ),
    },
  ];
  return (
    <Page
      title="Retention"
      lead="What is over is erased everywhere within minutes: answers, files, search text, events, deliveries and mails. Backups keep it for as long as they are kept."
    >
      <div className="row">
        <Select
          label="For"
          className="mail-filter"
          value={form ?? 'all'}
          choices={[
            { id: 'all', label: 'The whole workspace' },
            ...(forms.data ?? []).map(({ id, name }) => ({ id, label: name })),
          ]}
          onChange={(id) => void navigate({ to: '.', search: id === 'all' ? {} : { form: id } })}
        />
      </div>
      <QueryState query={rules} label="Loading what is kept …">
        {(data) => (
          <DataTable
            label="Retention"
            className="retention-table"
            columns={columns}
            rows={data.rules.map((each) => ({ ...each, due: due.data?.get(each.kind) }))}
            rowId={({ kind }) => kind}
          />
        )}
      </QueryState>
      {due.error && <ErrorState error={due.error} onRetry={() => void due.refetch()} />}
      {rules.data?.audit_days !== undefined && (
        <AuditDays workspace={workspace} auditDays={rules.data.audit_days} seen={rules.data} />
      )}
      {rule && rules.data && (
        <DaysDialog
          key={rule.kind}
          place={place}
          rule={rule}
          seen={rules.data}
          onClose={() => setChanged(undefined)}
        />
      )}
    </Page>
  );
}
