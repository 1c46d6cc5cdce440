import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Key } from '#console/accounts/shapes.ts';
import { remove } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { ConfirmDialog } from '../design/dialog.tsx';
import { toastDone } from '../design/toast.tsx';
import { keysQuery } from './workspace.ts';

/** Ends a key, after asking. */
export function RevokeKey({ workspaceId, apiKey }: { workspaceId: string; apiKey: Key }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const revoke = useMutation({
    mutationFn: () => remove(`/workspaces/${workspaceId}/keys/${apiKey.id}`),
    async onSuccess() {
      toastDone(`The key ${apiKey.name} was revoked.`);
      setAsking(false);
      await queryClient.invalidateQueries(keysQuery(workspaceId));
    },
  });
  const close = (): void => {
    setAsking(false);
    revoke.reset();
  };
  return (
    <>
      <Button size="small" aria-label={`Revoke ${apiKey.name}`} onPress={() => setAsking(true)}>
        Revoke
      </Button>
      <ConfirmDialog
        title={`Revoke ${apiKey.name}?`}
        isOpen={isAsking}
        onClose={close}
        confirmLabel="Revoke key"
        onConfirm={() => revoke.mutate()}
        isPending={revoke.isPending}
        error={revoke.error?.message}
      >
        Whatever uses <code>{apiKey.prefix}…</code> is refused from now on. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}
