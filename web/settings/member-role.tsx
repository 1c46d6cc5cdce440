import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Member, WorkspaceDetail } from '#console/accounts/shapes.ts';
import { patch } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { Select } from '../design/select.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { mayAdminister, refreshSession } from '../shell/session.ts';
import { roleName, rolesToGive } from './roles.ts';
import { membersQuery, workspaceQuery } from './workspace.ts';

/** A member's role, to be changed by those who may. */
export function MemberRole({
  workspace,
  member,
}: {
  workspace: WorkspaceDetail;
  member: Member;
}): ReactElement {
  const change = useMutation({
    mutationFn: (role: Member['role']) => patch(`/workspaces/${workspace.id}/members/${member.id}`, { role }),
    onSuccess: (_, role) => toastDone(`${member.name} is ${roleName(role).toLowerCase()} now.`),
    onError: toastProblem,
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries(membersQuery(workspace.id)),
        queryClient.invalidateQueries(workspaceQuery(workspace.id)),
        refreshSession(),
      ]),
  });
  const isMine = mayAdminister(workspace.role) && (member.role !== 'owner' || workspace.role === 'owner');
  if (!isMine) return <span>{roleName(member.role)}</span>;
  return (
    <Select
      className="member-role"
      size="small"
      label={`Role of ${member.name}`}
      isLabelHidden
      choices={rolesToGive(workspace.role)}
      value={change.isPending ? change.variables : member.role}
      onChange={(role) => role !== member.role && change.mutate(role)}
    />
  );
}
