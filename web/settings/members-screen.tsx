import './members-screen.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { assignableRoles, roles } from '#rules/permissions.ts';
import type { Member } from '#workspaces/members.ts';
import { callOperation } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { Switch } from '../design/checkbox.tsx';
import { SettingsPage } from '../design/page.tsx';
import { Select } from '../design/select.tsx';
import { QueryState } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { Avatar } from '../shell/navigation.tsx';
import { mayAdminister, useSession } from '../shell/session.ts';
import { InviteDialog, OpenInvitations } from './invitations.tsx';
import { membersQuery, useWorkspace, type WorkspaceDetail } from './workspace.ts';

type Role = Member['role'];
type MemberProps = { workspace: WorkspaceDetail; member: Member };

const formatKeyCount = ({ key_count: count }: Member): string =>
  count === 1 ? 'API key' : formatCount(count, 'API key');

/**
 * Shows the role of a member, or lets it be changed. Asks first if the member's API keys would lose
 * permissions.
 */
function MemberRole({ workspace, member }: MemberProps): ReactElement {
  const formatRole = (role: Role): string => roles[role].label.toLowerCase();
  const change = useAction({
    run: (role: Role) =>
      callOperation(
        workspace.id,
        'changeMember',
        { params: { id: member.id }, body: { role } },
        { seen: member },
      ),
    confirm: (role) =>
      member.key_count > 0 && !mayAdminister(role)
        ? {
            title: `Make ${member.name} ${formatRole(role)}?`,
            label: 'Change role',
            text: `The ${formatKeyCount(member)} they created will have no more permissions than the new role. Programs that need more are refused immediately. An admin can rotate a key to take it over with its full permissions.`,
          }
        : undefined,
    again: (role) => ({ title: `Still make ${member.name} ${formatRole(role)}?`, label: 'Change role' }),
    done: (_, role) => `The role of ${member.name} is now ${formatRole(role)}.`,
  });
  const isMine = mayAdminister(workspace.role) && (member.role !== 'owner' || workspace.role === 'owner');
  if (!isMine) return <span>{roles[member.role].label}</span>;
  return (
    <>
      <Select
        className="member-role"
        size="small"
        label={`Role of ${member.name}`}
        isLabelHidden
        choices={assignableRoles(workspace.role)}
        value={change.isPending ? change.variables : member.role}
        onChange={(role) => role !== member.role && change.start(role)}
      />
      {change.dialog}
    </>
  );
}

/** Removes a member from the workspace, after asking. */
function RemoveMember({ workspace, member }: MemberProps): ReactElement | null {
  const [revokes, setRevokes] = useState(true);
  const remove = useAction({
    run: () =>
      callOperation(
        workspace.id,
        'removeMember',
        { params: { id: member.id }, query: { keys: revokes ? 'revoke' : 'keep' } },
        { seen: member },
      ),
    confirm: {
      title: `Remove ${member.name}?`,
      label: 'Remove member',
      text: (
        <>
          <p>They lose access to {workspace.name} immediately. Everything they created is kept.</p>
          {member.key_count > 0 && (
            <Switch
              isSelected={revokes}
              onChange={setRevokes}
              description="They have seen these secrets. Programs that use the keys will stop working."
            >
              Revoke the {formatKeyCount(member)} they created
            </Switch>
          )}
        </>
      ),
      onClose: () => setRevokes(true),
    },
    done:
      member.key_count > 0 && revokes
        ? `${member.name} was removed, and their keys were revoked.`
        : `${member.name} was removed.`,
  });
  if (member.role === 'owner' && workspace.role !== 'owner') return null;
  return (
    <>
      <IconButton icon="remove" label={`Remove ${member.name}`} size="small" onPress={() => remove.start()} />
      {remove.dialog}
    </>
  );
}

/** Lists the members of a workspace and their roles. */
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
    <SettingsPage
      title="Members"
      lead={`The people who work in ${workspace.name}, and their roles.`}
      actions={
        isAdmin && (
          <Button variant="primary" icon="mail" onPress={() => setInviting(true)}>
            Invite member
          </Button>
        )
      }
    >
      <QueryState query={members} showsError>
        {(rows) => <DataTable label="Members" columns={columns} rows={rows} rowId={({ id }) => id} />}
      </QueryState>
      {isAdmin && <OpenInvitations workspace={workspace} />}
      {isInviting && <InviteDialog workspace={workspace} onClose={() => setInviting(false)} />}
    </SettingsPage>
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
        {member.second_factor === false && <span className="soft small">Two-factor off</span>}
      </div>
    </div>
  );
}
