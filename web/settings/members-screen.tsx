import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Member } from '#workspaces/members.ts';
import { Button, IconButton } from '../design/button.tsx';
import { Page } from '../design/page.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { Avatar } from '../shell/navigation.tsx';
import { mayAdminister, useSession } from '../shell/session.ts';
import { InviteDialog, OpenInvitations } from './invitations.tsx';
import './members-screen.css';
import { type MemberProps, membersQuery, refreshMembers, useWorkspace } from './workspace.ts';
import { call } from '../api/operations.ts';
import { Switch } from '../design/checkbox.tsx';
import { ConfirmChange, ConfirmDialog } from '../design/dialog.tsx';
import { toastDone } from '../design/toast.tsx';
import { sayCount } from '#ast/say-count.ts';
import { AskAgain, toastUnlessAsked } from '../design/ask-again.tsx';
import { Select } from '../design/select.tsx';
import { assignableRoles, roles } from '#rules/permissions.ts';

type Role = Member['role'];

/** A member's role, to be changed by those who may; asked about where API keys of theirs lose by it. */
function MemberRole({ workspace, member }: MemberProps): ReactElement {
  const [asked, setAsked] = useState<Role>();
  const change = useMutation({
    mutationFn: (role: Role) =>
      call(workspace.id, 'changeMember', { params: { id: member.id }, body: { role } }, { seen: member }),
    onSuccess: (_, role) => toastDone(`${member.name} is ${roles[role].label.toLowerCase()} now.`),
    onError: toastUnlessAsked,
    onSettled: () => {
      setAsked(undefined);
      return refreshMembers(workspace.id);
    },
  });
  const isMine = mayAdminister(workspace.role) && (member.role !== 'owner' || workspace.role === 'owner');
  if (!isMine) return <span>{roles[member.role].label}</span>;
  const losesKeys = (role: Role): boolean => member.key_count > 0 && !mayAdminister(role);
  const keys = member.key_count === 1 ? 'API key' : sayCount(member.key_count, 'API key');
  return (
    <>
      <Select
        className="member-role"
        size="small"
        label={`Role of ${member.name}`}
        isLabelHidden
        choices={assignableRoles(workspace.role)}
        value={change.isPending ? change.variables : member.role}
        onChange={(role) => {
          if (role === member.role) return;
          if (losesKeys(role)) setAsked(role);
          else change.mutate(role);
        }}
      />
      <AskAgain
        change={change}
        sayTitle={(role) => `Make ${member.name} ${roles[role].label.toLowerCase()} all the same?`}
        sayAgain={() => 'Change role'}
        onAgain={change.mutate}
      />
      {asked !== undefined && (
        <ConfirmDialog
          title={`Make ${member.name} ${roles[asked].label.toLowerCase()}?`}
          isOpen
          onClose={() => setAsked(undefined)}
          confirmLabel="Change role"
          onConfirm={() => change.mutate(asked)}
          isPending={change.isPending}
        >
          The {keys} that they made may no more than they do: programs that need more are refused at once.
          Whoever rotates a key makes it theirs, with all that it was given.
        </ConfirmDialog>
      )}
    </>
  );
}

/** Takes a member out of the workspace, after asking. */
function RemoveMember({ workspace, member }: MemberProps): ReactElement | null {
  const [isAsking, setAsking] = useState(false);
  const [revokes, setRevokes] = useState(true);
  const take = useMutation({
    mutationFn: () =>
      call(
        workspace.id,
        'removeMember',
        { params: { id: member.id }, query: { keys: revokes ? 'revoke' : 'keep' } },
        { seen: member },
      ),
    async onSuccess() {
      toastDone(
        member.key_count > 0 && revokes
          ? `${member.name} was removed, and their keys were revoked.`
          : `${member.name} was removed.`,
      );
      setAsking(false);
      await refreshMembers(workspace.id);
    },
  });
  const close = (): void => {
    setAsking(false);
    setRevokes(true);
  };
  if (member.role === 'owner' && workspace.role !== 'owner') return null;
  return (
    <>
      <IconButton
        icon="remove"
        label={`Remove ${member.name}`}
        size="small"
        onPress={() => setAsking(true)}
      />
      <ConfirmChange
        title={`Remove ${member.name}?`}
        isOpen={isAsking}
        onClose={close}
        confirmLabel="Remove member"
        change={take}
      >
        <p>They lose access to {workspace.name} at once. What they made stays.</p>
        {member.key_count > 0 && (
          <Switch
            isSelected={revokes}
            onChange={setRevokes}
            description="They were shown the secrets. Programs that use these keys stop working."
          >
            Revoke the {member.key_count === 1 ? 'API key' : sayCount(member.key_count, 'API key')} that they
            made
          </Switch>
        )}
      </ConfirmChange>
    </>
  );
}

/** The people of a workspace and what each may do. */
export function MembersScreen(): ReactElement {
  const workspace = useWorkspace();
  const { user } = useSession();
  const members = useQuery(membersQuery(workspace.id));
  const [isInviting, setInviting] = useState(false);
  const isAdmin = mayAdminister(workspace.role);
  const columns: TableColumn<Member>[] = [
    {
      id: 'person',
      title: 'Person',
      cell: (member) => <Person member={member} isSelf={member.id === user.id} />,
    },
    {
      id: 'since',
      title: 'Member since',
      isSecondary: true,
      cell: (member) => <Ago at={member.created_at} />,
    },
    { id: 'role', title: 'Role', cell: (member) => <MemberRole workspace={workspace} member={member} /> },
    ...(isAdmin
      ? [
          {
            id: 'remove',
            title: <span className="unseen">Remove</span>,
            isNumeric: true,
            cell: (member: Member) => <RemoveMember workspace={workspace} member={member} />,
          },
        ]
      : []),
  ];
  return (
    <Page
      title="Members"
      lead={`Who works in ${workspace.name}.`}
      actions={
        isAdmin && (
          <Button variant="primary" icon="mail" onPress={() => setInviting(true)}>
            Invite member
          </Button>
        )
      }
    >
      {members.isPending && <Loading />}
      {members.error && <ErrorState error={members.error} onRetry={() => void members.refetch()} />}
      {members.data && (
        <DataTable label="Members" columns={columns} rows={members.data} rowId={({ id }) => id} />
      )}
      {isAdmin && <OpenInvitations workspace={workspace} />}
      <InviteDialog workspace={workspace} isOpen={isInviting} onClose={() => setInviting(false)} />
    </Page>
  );
}

function Person({ member, isSelf }: { member: Member; isSelf: boolean }): ReactElement {
  return (
    <div className="member">
      <Avatar name={member.name} />
      <div className="member-text">
        <span className="member-name">
          {member.name}
          {isSelf && <span className="soft"> (you)</span>}
        </span>
        <span className="soft small">{member.email}</span>
        {member.second_factor === false && <span className="soft small">No second step</span>}
      </div>
    </div>
  );
}
