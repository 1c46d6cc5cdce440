import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { ConfirmChange } from '../../design/dialog.tsx';
import { toastDone } from '../../design/toast.tsx';
import { keysQuery } from '../workspace.ts';
import type { KeyProps } from './key-props.ts';

/** Asks before a key ends. */
export function RevokeKey({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const revoke = useMutation({
    mutationFn: () => call(workspaceId, 'revokeKey', { params: { id: apiKey.id } }, { seen: apiKey }),
    async onSuccess() {
      toastDone(`The key ${apiKey.name} was revoked.`);
      await queryClient.invalidateQueries(keysQuery(workspaceId));
      onClose();
    },
  });
  return (
    <ConfirmChange
      title={`Revoke ${apiKey.name}?`}
      isOpen
      onClose={onClose}
      confirmLabel="Revoke key"
      change={revoke}
    >
      Whatever uses <code>{apiKey.prefix}…</code> is refused from now on. This cannot be undone.
    </ConfirmChange>
  );
}
