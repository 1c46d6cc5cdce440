import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { callOperation } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { IconButton } from '../design/button.tsx';
import { Chip } from '../design/chip.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Menu, type MenuAction } from '../design/menu.tsx';
import type { Tone } from '../design/message.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import type { FormLocation, InvitationRow, InvitationStatus } from './invitations-query.ts';

export const invitationStatusLabels = {
  pending: ['Pending', 'plain', 'Not emailed yet.'],
  sent: ['Sent', 'info', 'The email was sent.'],
  bounced: ['Bounced', 'bad', 'The email could not be delivered.'],
  opened: ['Opened', 'info', 'The personal link was opened.'],
  started: ['Started', 'warn', 'Some answers were saved, but the form was not submitted.'],
  completed: ['Completed', 'good', 'The form was submitted.'],
  revoked: ['Revoked', 'plain', 'The link no longer works.'],
} as const satisfies Record<InvitationStatus, readonly [word: string, tone: Tone | 'plain', meaning: string]>;

/** The statuses in the order in which an invitation passes through them. */
export const statusOrder = Object.keys(invitationStatusLabels) as readonly InvitationStatus[];

type ActionProps = { form: FormLocation; row: InvitationRow; canMail: boolean };

function RowActions({ form, row, canMail }: ActionProps): ReactElement | null {
  const [isShown, setShown] = useState(false);
  const place = { params: { id: form.id, invitation: row.id } };
  const resend = useAction({
    run: () => callOperation(form.workspace_id, 'resendInvitation', place),
    done: `The invitation to ${row.email} will be sent.`,
    problem: 'toast',
  });
  const revoke = useAction({
    run: () => callOperation(form.workspace_id, 'revokeInvitation', place),
    confirm: {
      title: 'Revoke this invitation?',
      label: 'Revoke',
      text: `The link for ${row.email} will stop working. You can invite this address again.`,
    },
    done: `The link for ${row.email} no longer works.`,
  });
  if (row.status === 'completed' || row.status === 'revoked') return null;
  const items: MenuAction[] = [
    { id: 'link', label: 'Personal link', icon: 'link', onAction: () => setShown(true) },
    ...(canMail
      ? [
          {
            id: 'resend',
            label: row.status === 'pending' ? 'Send' : 'Send again',
            icon: 'send' as const,
            isDisabled: row.is_unsubscribed,
            onAction: () => resend.start(),
          },
        ]
      : []),
    { id: 'revoke', label: 'Revoke', icon: 'remove', isDanger: true, onAction: () => revoke.start() },
  ];
  return (
    <>
      <Menu items={items}>
        <IconButton icon="more" label={`Invitation for ${row.email}`} size="small" />
      </Menu>
      <Dialog
        title="Personal link"
        description={`Anyone with this link can submit the form once as ${row.name || row.email}.`}
        isOpen={isShown}
        onClose={() => setShown(false)}
        size="medium"
      >
        <CopyField label="Link" text={row.url ?? ''} />
      </Dialog>
      {revoke.dialog}
    </>
  );
}

type Props = { form: FormLocation; rows: readonly InvitationRow[]; isEditor: boolean; canMail: boolean };

/** One page of the list of invitations. */
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
  const [word, tone] = invitationStatusLabels[row.status];
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

/** Returns additional information about an invitation, in words. */
function notesOf(row: InvitationRow): string[] {
  const isOpen = row.status !== 'completed' && row.status !== 'revoked';
  const isOver = row.expires_at !== null && new Date(row.expires_at) < new Date();
  return [
    ...(isOpen && row.mail_error !== null ? [row.mail_error] : []),
    ...(isOpen && isOver ? ['The link has expired.'] : []),
    ...(isOpen && row.is_unsubscribed ? ['Unsubscribed from emails.'] : []),
    ...(row.reminders > 0
      ? [row.reminders === 1 ? 'Reminded once.' : `Reminded ${row.reminders} times.`]
      : []),
  ];
}

/** Returns the time of the last event of an invitation. */
const lastOf = (row: InvitationRow): string =>
  [
    row.sent_at,
    row.opened_at,
    row.started_at,
    row.completed_at,
    row.revoked_at,
    row.reminded_at,
  ].reduce<string>((last, at) => (at !== null && at > last ? at : last), row.created_at);
