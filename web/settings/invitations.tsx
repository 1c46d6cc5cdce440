import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { assignableRoles, type Role, roles } from '#rules/permissions.ts';
import type { MemberInvitation } from '#workspaces/member-invitations/endpoints.ts';
import { callOperation, operationQuery } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { Chip } from '../design/chip.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { FieldsDialog } from '../design/form-dialog.tsx';
import { ErrorState } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { formatDateTime } from '../design/time.tsx';
import type { WorkspaceDetail } from './workspace.ts';

/** Lists the pending invitations to the workspace. */
const memberInvitationsQuery = (workspace: string) =>
  queryOptions({
    ...operationQuery(workspace, 'listMemberInvitations', {}),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ mail_state }) => mail_state === 'queued') ? 3_000 : false,
  });

/** Shows the link of an invitation if email is not set up, so that the member can pass it on. */
function LinkDialog({
  email,
  link,
  onClose,
}: {
  email: string;
  link: string;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog title="Copy invitation link" onClose={onClose} size="medium" done="Done">
      <p>
        Email is not set up. Send <strong>{email}</strong> this link over a secure channel. Anyone who has it
        can join in their place. It can be used once and expires in 7 days.
      </p>
      <CopyField label="Invitation link" text={link} />
    </Dialog>
  );
}

/** Invites a person by email to join the workspace. */
export function InviteDialog({
  workspace,
  onClose,
}: {
  workspace: WorkspaceDetail;
  onClose: () => void;
}): ReactElement {
  const invite = useAction({
    run: (body: { email: string; role: Role }) => callOperation(workspace.id, 'inviteMember', { body }),
    done: ({ link }, { email }) => (link === null ? `${email} was invited.` : undefined),
    onDone: ({ link }) => link === null && onClose(),
  });
  if (invite.isSuccess && invite.data.link)
    return <LinkDialog email={invite.variables.email} link={invite.data.link} onClose={onClose} />;
  return (
    <FieldsDialog
      title="Invite a member"
      description="They get a link to join with a new or existing account. It expires in 7 days."
      onClose={onClose}
      submitLabel="Invite"
      action={invite}
      begin={{ email: '', role: 'editor' }}
      fields={{
        email: {
          label: 'Email address',
          type: 'text',
          inputMode: 'email',
          autoFocus: true,
        },
        role: { label: 'Role', choices: assignableRoles(workspace.role) },
      }}
    />
  );
}

/** Lists pending invitations. Renders nothing if there are none. */
export function OpenInvitations({ workspace }: { workspace: WorkspaceDetail }): ReactElement | null {
  const { data, error, refetch } = useQuery(memberInvitationsQuery(workspace.id));
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data || data.data.length === 0) return null;
  const columns: TableColumn<MemberInvitation>[] = [
    {
      id: 'email',
      title: 'Invited',
      cell: ({ email, invited_by }) => (
        <div className="member-text">
          <span className="member-name">{email}</span>
          {invited_by !== null && <span className="soft small">by {invited_by}</span>}
        </div>
      ),
    },
    { id: 'role', title: 'Role', isSecondary: true, cell: ({ role }) => roles[role].label },
    { id: 'state', title: 'Status', cell: (invitation) => <InvitationState invitation={invitation} /> },
    {
      id: 'actions',
      title: <span className="unseen">Actions</span>,
      isNumeric: true,
      cell: (invitation) => (
        <InvitationActions workspace={workspace} invitation={invitation} sendsMail={data.sends_mail} />
      ),
    },
  ];
  return (
    <div className="stack">
      <h2>Pending invitations</h2>
      <DataTable
        label="Pending invitations"
        className="invitation-table"
        columns={columns}
        rows={data.data}
        rowId={({ id }) => id}
      />
    </div>
  );
}

function InvitationState({ invitation }: { invitation: MemberInvitation }): ReactElement {
  const { expires_at, mail_state, mail_error } = invitation;
  if (new Date(expires_at) < new Date()) return <Chip tone="warn">Expired</Chip>;
  return (
    <div className="member-text">
      {mail_state === 'failed' ? (
        <>
          <span>
            <Chip tone="bad">Not delivered</Chip>
          </span>
          <span className="soft small">{mail_error}</span>
        </>
      ) : (
        <span className="small">Expires {formatDateTime(expires_at)}</span>
      )}
    </div>
  );
}

type ActionProps = { workspace: WorkspaceDetail; invitation: MemberInvitation; sendsMail: boolean };

function InvitationActions({ workspace, invitation, sendsMail }: ActionProps): ReactElement | null {
  const target = { params: { id: invitation.id } };
  const resend = useAction({
    run: () => callOperation(workspace.id, 'resendMemberInvitation', target),
    done: ({ link }) => (link === null ? `${invitation.email} was invited again.` : undefined),
    problem: 'toast',
  });
  const withdraw = useAction({
    run: () => callOperation(workspace.id, 'revokeMemberInvitation', target),
    done: `The invitation for ${invitation.email} was revoked.`,
    problem: 'toast',
  });
  if (invitation.role === 'owner' && workspace.role !== 'owner') return null;
  return (
    <div className="member-actions">
      <Button
        size="small"
        aria-label={`${sendsMail ? 'Send again to' : 'New link for'} ${invitation.email}`}
        {...resend.press()}
      >
        {sendsMail ? 'Send again' : 'New link'}
      </Button>
      <IconButton
        icon="remove"
        size="small"
        label={`Revoke the invitation for ${invitation.email}`}
        isDisabled={withdraw.isPending}
        onPress={() => withdraw.start()}
      />
      {resend.data?.link && (
        <LinkDialog email={invitation.email} link={resend.data.link} onClose={resend.reset} />
      )}
    </div>
  );
}
