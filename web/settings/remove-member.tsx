import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Member, WorkspaceDetail } from '#console/accounts/shapes.ts';
import { remove } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { IconButton } from '../design/button.tsx';
import { ConfirmDialog } from '../design/dialog.tsx';
import { toastDone } from '../design/toast.tsx';
import { refreshSession } from '../shell/session.ts';
import { membersQuery, workspaceQuery } from './workspace.ts';

/** Takes a member out of the workspace, after asking. */
export function RemoveMember({
  workspace,
  member,
}: {
  workspace: WorkspaceDetail;
  member: Member;
}): ReactElement | null {
  const [isAsking, setAsking] = useState(false);
  const take = useMutation({
    mutationFn: () => remove(`/workspaces/${workspace.id}/members/${member.id}`),
    async onSuccess() {
      toastDone(`${member.name} was removed.`);
      setAsking(false);
      await Promise.all([
        queryClient.invalidateQueries(membersQuery(workspace.id)),
        queryClient.invalidateQueries(workspaceQuery(workspace.id)),
        refreshSession(),
      ]);
    },
  });
  const close = (): void => {
    setAsking(false);
    take.reset();
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
      <ConfirmDialog
        title={`Remove ${member.name}?`}
        isOpen={isAsking}
        onClose={close}
        confirmLabel="Remove member"
        onConfirm={() => take.mutate()}
        isPending={take.isPending}
        error={take.error?.message}
      >
        They lose access to {workspace.name} at once. What they made stays.
      </ConfirmDialog>
    </>
  );
}
