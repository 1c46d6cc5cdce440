import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Member } from '#workspaces/members/shapes.ts';
import { Button } from '../design/button.tsx';
import { Page } from '../design/page.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { Avatar } from '../shell/navigation/avatar.tsx';
import { mayAdminister, useSession } from '../shell/session.ts';
import { InviteDialog } from './invitations/invite-dialog.tsx';
import { OpenInvitations } from './invitations/open-invitations.tsx';
import { MemberRole } from './member-role.tsx';
import './members-screen.css';
import { RemoveMember } from './remove-member.tsx';
import { membersQuery, useWorkspace } from './workspace.ts';

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
