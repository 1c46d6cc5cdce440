import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Chip } from '../design/chip.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import type { FormPlace } from './invitations-query.ts';
import { RowActions } from './row-actions.tsx';
import { statuses } from './statuses.ts';
import type { InvitationRow } from './invitations-query.ts';

type Props = { form: FormPlace; rows: readonly InvitationRow[]; isEditor: boolean; canMail: boolean };

/** One page of the list. */
export function InvitationsTable({ form, rows, isEditor, canMail }: Props): ReactElement {
  const columns: TableColumn<InvitationRow>[] = [
    { id: 'person', title: 'Person', cell: (row) => <Person row={row} /> },
    { id: 'status', title: 'Status', cell: (row) => <Status row={row} /> },
    { id: 'last', title: 'Last change', isSecondary: true, cell: (row) => <Ago at={lastOf(row)} /> },
    {
      id: 'answers',
      title: 'Answers',
      isSecondary: true,
      cell: ({ submission_id }) =>
        submission_id !== null && (
          <Link to="/forms/$form/submissions" params={{ form: form.id }} search={{ open: submission_id }}>
            View
          </Link>
        ),
    },
  ];
  if (isEditor)
    columns.push({
      id: 'actions',
      title: <span className="unseen">Actions</span>,
      cell: (row) => <RowActions form={form} row={row} canMail={canMail} />,
    });
  return (
    <DataTable
      label="Invitations"
      className="invitations-table"
      columns={columns}
      rows={rows}
      rowId={({ id }) => id}
    />
  );
}

function Person({ row: { email, name } }: { row: InvitationRow }): ReactElement {
  return (
    <span className="invitations-person">
      <span className="cut">{name || email}</span>
      {name !== '' && <span className="soft small cut">{email}</span>}
    </span>
  );
}

function Status({ row }: { row: InvitationRow }): ReactElement {
  const [word, tone] = statuses[row.status];
  const notes = notesOf(row);
  return (
    <span className="invitations-status">
      <Chip tone={tone}>{word}</Chip>
      {notes.map((note) => (
        <span key={note} className="soft small">
          {note}
        </span>
      ))}
    </span>
  );
}

/** What else there is to know, in words. */
function notesOf(row: InvitationRow): string[] {
  const isOpen = row.status !== 'completed' && row.status !== 'revoked';
  const isOver = row.expires_at !== null && new Date(row.expires_at) < new Date();
  return [
    ...(isOpen && row.mail_error !== null ? [row.mail_error] : []),
    ...(isOpen && isOver ? ['The link has run out.'] : []),
    ...(isOpen && row.is_unsubscribed ? ['Asked for no more mails.'] : []),
    ...(row.reminders > 0
      ? [row.reminders === 1 ? 'Reminded once.' : `Reminded ${row.reminders} times.`]
      : []),
  ];
}

/** When something last happened to an invitation. */
const lastOf = (row: InvitationRow): string =>
  [
    row.sent_at,
    row.opened_at,
    row.started_at,
    row.completed_at,
    row.revoked_at,
    row.reminded_at,
  ].reduce<string>((last, at) => (at !== null && at > last ? at : last), row.created_at);
