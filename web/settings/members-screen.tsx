import './members-screen.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { sayCount } from '#ast/basics/say-count.ts';
import { assignableRoles, roles } from '#rules/permissions.ts';
import type { Member } from '#workspaces/members.ts';
import { call } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { Switch } from '../design/checkbox.tsx';
import { Page } from '../design/page.tsx';
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

const sayKeys = ({ key_count: count }: Member): string =>
  count === 1 ? 'API key' : sayCount(count, 'API key');

/** A member's role, to be changed by those who may; asked about where API keys of theirs lose by it. */
function MemberRole({ workspace, member }: MemberProps): ReactElement {
  const sayRole = (role: Role): string => roles[role].label.toLowerCase();
  const change = useAction({
    run: (role: Role) =>
      call(workspace.id, 'changeMember', { params: { id: member.id }, body: { role } }, { seen: member }),
    confirm: (role) =>
      member.key_count > 0 && !mayAdminister(role)
        ? {
            title: `Make ${member.name} ${sayRole(role)}?`,
            label: 'Change role',
            text: `The ${sayKeys(member)} that they made may no more than they do: programs that need more are refused at once. Whoever rotates a key makes it theirs, with all that it was given.`,
          }
        : undefined,
    again: (role) => ({ title: `Make ${member.name} ${sayRole(role)} all the same?`, label: 'Change role' }),
    done: (_, role) => `${member.name} is ${sayRole(role)} now.`,
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

/** Takes a member out of the workspace, after asking. */
function RemoveMember({ workspace, member }: MemberProps): ReactElement | null {
  const [revokes, setRevokes] = useState(true);
  const remove = useAction({
    run: () =>
      call(
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
          <p>They lose access to {workspace.name} at once. What they made stays.</p>
          {member.key_count > 0 && (
            <Switch
              isSelected={revokes}
              onChange={setRevokes}
              description="They were shown the secrets. Programs that use these keys stop working."
            >
              Revoke the {sayKeys(member)} that they made
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
      <QueryState query={members} showsError>
        {(rows) => <DataTable label="Members" columns={columns} rows={rows} rowId={({ id }) => id} />}
      </QueryState>
      {isAdmin && <OpenInvitations workspace={workspace} />}
      {isInviting && <InviteDialog workspace={workspace} onClose={() => setInviting(false)} />}
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
