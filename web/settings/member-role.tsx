import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Member } from '#workspaces/members/shapes.ts';
import { call } from '../api/operations.ts';
import { AskAgain, toastUnlessAsked } from '../design/ask-again.tsx';
import { ConfirmDialog } from '../design/dialog.tsx';
import { Select } from '../design/select.tsx';
import { toastDone } from '../design/toast.tsx';
import { mayAdminister } from '../shell/session.ts';
import { assignableRoles, roles } from '#rules/permissions.ts';
import { type MemberProps, refreshMembers } from './workspace.ts';
import { sayCount } from '#ast/say-count.ts';

type Role = Member['role'];

/** A member's role, to be changed by those who may; asked about where API keys of theirs lose by it. */
export function MemberRole({ workspace, member }: MemberProps): ReactElement {
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
