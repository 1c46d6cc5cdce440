import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { WorkspaceDetail } from '../settings/workspace.ts';
import { StatusChip } from '../design/chip.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { FormActions } from './form-actions.tsx';
import type { FormLine } from './forms-query.ts';
import { sayCount } from '#ast/say-count.ts';

export function FormsTable({
  workspace,
  forms,
}: {
  workspace: WorkspaceDetail;
  forms: readonly FormLine[];
}): ReactElement {
  const columns: TableColumn<FormLine>[] = [
    { id: 'name', title: 'Form', cell: (form) => <FormTitle form={form} /> },
    { id: 'status', title: 'Status', cell: ({ status }) => <StatusChip status={status} /> },
    {
      id: 'submissions',
      title: 'Submissions',
      isNumeric: true,
      isSecondary: true,
      cell: ({ id, submission_count }) => (
        <Link to="/forms/$form/submissions" params={{ form: id }} className="forms-count">
          {submission_count.toLocaleString()}
          <span className="unseen"> submissions</span>
        </Link>
      ),
    },
    {
      id: 'activity',
      title: 'Last activity',
      isSecondary: true,
      cell: ({ last_activity_at }) => <Ago at={last_activity_at} />,
    },
    {
      id: 'actions',
      title: <span className="unseen">Actions</span>,
      isNumeric: true,
      cell: (form) => <FormActions workspace={workspace} form={form} />,
    },
  ];
  return (
    <DataTable label="Forms" className="forms-table" columns={columns} rows={forms} rowId={({ id }) => id} />
  );
}

function FormTitle({ form }: { form: FormLine }): ReactElement {
  return (
    <div className="forms-title">
      <Link to="/forms/$form" params={{ form: form.id }} className="forms-name">
        {form.name}
      </Link>
      {form.description && <span className="soft small cut">{form.description}</span>}
      <span className="forms-small soft small">
        <Link to="/forms/$form/submissions" params={{ form: form.id }} className="forms-count">
          {sayCount(form.submission_count, 'submission')}
        </Link>
        <Ago at={form.last_activity_at} />
      </span>
    </div>
  );
}
