import '../mail/mail-screen.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Page } from '../../design/page.tsx';
import { Select } from '../../design/select.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { sayDay } from '../../design/time.tsx';
import { formNamesQuery, useWorkspace } from '../workspace.ts';
import { AuditDays } from './audit-days.tsx';
import { DaysDialog } from './days-dialog.tsx';
import { type Due, dueQuery, retentionQuery, type RetentionRule } from './retention-query.ts';
import { kindWords, sayDays, sayDue, saySource } from './retention-words.ts';

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
      {rules.error && !rules.data ? (
        <ErrorState error={rules.error} onRetry={() => void rules.refetch()} />
      ) : !rules.data ? (
        <Loading label="Loading what is kept …" />
      ) : (
        <DataTable
          label="Retention"
          className="retention-table"
          columns={columns}
          rows={rules.data.rules.map((each) => ({ ...each, due: due.data?.get(each.kind) }))}
          rowId={({ kind }) => kind}
        />
      )}
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
