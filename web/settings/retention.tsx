import './mail.css';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { formatCount } from '#ast/basics/format-number.ts';
import { callOperation, operationQuery } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { CardForm, FormDialog } from '../design/form-dialog.tsx';
import { Message } from '../design/message.tsx';
import { NumberInput } from '../design/number-input.tsx';
import { Card, SettingsPage } from '../design/page.tsx';
import { Select } from '../design/select.tsx';
import { ErrorState, QueryState } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { formatDate } from '../design/time.tsx';
import { formNamesQuery, useWorkspace, type WorkspaceDetail } from './workspace.ts';

type RetentionRule = ReplyOf<'getRetention'>['rules'][number];
type RetentionKind = RetentionRule['kind'];
type Due = ReplyOf<'previewRetention'>['data'][number];
/** The workspace or form to which the rules apply. */
type RetentionScope = { workspace: string; form: string | undefined };
type Days = RetentionRule['days'] | null;

const retentionQuery = ({ workspace, form }: RetentionScope) =>
  queryOptions({
    queryKey: ['getRetention', workspace, form ?? ''],
    queryFn: () => readRetention({ workspace, form }),
    staleTime: 0,
  });

/** `audit_days` exists only for the workspace. */
async function readRetention({ workspace, form }: RetentionScope) {
  if (form === undefined) return callOperation(workspace, 'getRetention', {});
  const found = await callOperation(workspace, 'getFormRetention', { params: { id: form } });
  return { ...found, audit_days: undefined };
}

/** Queries what will be deleted and when, or what would be deleted after a change. */
const dueQuery = ({ workspace, form }: RetentionScope, change?: { kind: RetentionKind; days: Days }) =>
  queryOptions({
    ...operationQuery(workspace, 'previewRetention', {
      body: { ...(form !== undefined && { form_id: form }), ...(change && { [change.kind]: change.days }) },
    }),
    select: ({ data }) => new Map(data.map((due) => [due.kind, due])),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

/** Saves how long a kind of data is kept. */
async function saveDays(
  { workspace, form }: RetentionScope,
  { kind, days }: { kind: RetentionKind; days: Days },
  seen: { updated_at: string },
): Promise<void> {
  const body = { [kind]: days };
  await (form === undefined
    ? callOperation(workspace, 'changeRetention', { body }, { seen })
    : callOperation(workspace, 'changeFormRetention', { params: { id: form }, body }, { seen }));
}

const kindWords = {
  submissions: 'Submissions',
  incomplete: 'Incomplete submissions',
  files: 'Uploaded files',
  mails: 'Email log',
  deliveries: 'Webhook deliveries',
  trash: 'Trash',
} as const satisfies Record<RetentionKind, string>;

const sources = {
  form: 'set for this form',
  workspace: 'set for the workspace',
  default: 'default',
  operator: 'set by the operator',
} as const satisfies Record<RetentionRule['said_by'], string>;

const describeSource = ({ said_by }: RetentionRule): string => sources[said_by];

const formatDays = (days: RetentionRule['days']): string =>
  days === 'forever' ? 'Until deleted' : formatCount(days, 'day');

const most = 10_000;
const formatAmount = (amount: number): string =>
  amount > most ? `more than ${most.toLocaleString()}` : amount.toLocaleString();

/** Describes what a rule will delete soon. */
function describeDue({ due_now, due_in_7_days, due_in_30_days }: Due): string {
  if (due_in_30_days === 0) return 'Nothing will be deleted within 30 days.';
  const week = due_in_7_days === 0 ? '' : `${formatAmount(due_in_7_days)} within a week, `;
  const soon = `To be deleted: ${week}${formatAmount(due_in_30_days)} within 30 days.`;
  return due_now === 0 ? soon : `Permanently deleted within minutes: ${formatAmount(due_now)}. ${soon}`;
}

type Choice = 'usual' | 'days' | 'forever';

/** Edits a retention rule and shows what it would delete before it is saved. */
function DaysDialog({
  place,
  rule,
  seen,
  onClose,
}: {
  place: RetentionScope;
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
    done: 'The retention period was saved.',
    onDone: onClose,
  });
  const usual = place.form === undefined ? 'Default' : 'Same as the workspace';
  const found = due.data?.get(rule.kind);
  return (
    <FormDialog
      title={kindWords[rule.kind]}
      description={rule.means}
      onClose={onClose}
      onSubmit={() => isFit && save.mutate()}
      submitLabel={found && found.due_now > 0 ? 'Save and erase expired data' : 'Save'}
      action={save}
    >
      <Select
        label="Keep"
        value={choice}
        choices={[
          { id: 'usual', label: usual },
          { id: 'days', label: 'For a number of days' },
          ...(rule.may_stay ? [{ id: 'forever' as const, label: 'Until deleted' }] : []),
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
            save.of(rule.kind) ?? (isFit ? undefined : `Enter 1 to ${rule.most_days.toLocaleString()} days.`)
          }
        />
      )}
      {isFit && due.error && (
        <Message tone="bad">Could not load what would be deleted: {due.error.message}</Message>
      )}
      {isFit && found && <Message tone={found.due_now > 0 ? 'warn' : 'info'}>{describeDue(found)}</Message>}
    </FormDialog>
  );
}

/**
 * Sets how long the audit log is kept. Only owners may change this, because the log shows what other members
 * did.
 */
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
    run: () => callOperation(workspace.id, 'changeRetention', { body: { audit_days: days ?? 0 } }, { seen }),
  });
  const isOwner = workspace.role === 'owner';
  return (
    <Card title="Audit log" lead="Entries cannot be changed. Keep them for 30 days to 10 years.">
      <CardForm label={isOwner ? 'Save days' : undefined} action={save} onSubmit={save.mutate}>
        <NumberInput
          label="Days to keep activity"
          isWhole
          isReadOnly={!isOwner}
          description={isOwner ? undefined : 'Only owners can change this.'}
          value={days}
          onChange={setDays}
          error={save.of('audit_days')}
        />
      </CardForm>
    </Card>
  );
}

type Row = RetentionRule & { due: Due | undefined };

/** The retention rules of the workspace and of forms that have their own, with what they will delete. */
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
      title: 'Data',
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
          <span>{formatDays(row.days)}</span>
          <span className="soft small">{describeSource(row)}</span>
        </div>
      ),
    },
    {
      id: 'soon',
      title: 'Expiring soon',
      isSecondary: true,
      cell: ({ due }) =>
        !due ? (
          '…'
        ) : due.due_in_30_days === 0 ? (
          <span className="soft">Nothing</span>
        ) : (
          <div className="mail-what">
            <span>{describeDue(due)}</span>
            {due.next_at && <span className="soft small">Next on {formatDate(due.next_at)}</span>}
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
    <SettingsPage
      title="Retention"
      lead="How long this workspace keeps each kind of data before it is permanently deleted."
    >
      <div className="row">
        <Select
          label="Applies to"
          className="mail-filter"
          value={form ?? 'all'}
          choices={[
            { id: 'all', label: 'The whole workspace' },
            ...(forms.data ?? []).map(({ id, name }) => ({ id, label: name })),
          ]}
          onChange={(id) => void navigate({ to: '.', search: id === 'all' ? {} : { form: id } })}
        />
      </div>
      <QueryState query={rules} label="Loading retention…">
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
      <p className="soft small">
        Expired data is deleted everywhere within minutes: answers, files, text in the search index, events,
        deliveries and emails. Backups keep it until they expire. Spam is always deleted after 30 days.
      </p>
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
    </SettingsPage>
  );
}
