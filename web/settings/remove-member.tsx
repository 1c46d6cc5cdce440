import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../api/operations.ts';
import { IconButton } from '../design/button.tsx';
import { Switch } from '../design/checkbox.tsx';
import { ConfirmChange } from '../design/dialog.tsx';
import { toastDone } from '../design/toast.tsx';
import { type MemberProps, refreshMembers } from './workspace.ts';
import { sayCount } from '#ast/say-count.ts';

/** Takes a member out of the workspace, after asking. */
export function RemoveMember({ workspace, member }: MemberProps): ReactElement | null {
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
