import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import { Card } from '../design/page.tsx';
import { sayMoment } from '../design/time.tsx';
import { toastDone } from '../design/toast.tsx';
import { refreshSession, useSession } from '../shell/session.ts';

/** Workspaces of the person that are being deleted, with the way back for their owners; nothing where there are none. */
export function EndingWorkspacesCard(): ReactElement | null {
  const { ending_workspaces: ending } = useSession();
  const bringBack = useMutation({
    mutationFn: (id: string) => callOwn('bringBackWorkspace', { params: { id } }),
    async onSuccess() {
      await refreshSession();
      toastDone('The workspace is open again.');
    },
  });
  if (ending.length === 0) return null;
  return (
    <Card title="Being deleted" lead="Closed for everybody, and gone for good when their time comes.">
      {bringBack.error && <Message tone="bad">{bringBack.error.message}</Message>}
      {ending.map(({ id, name, role, ends_at }) => (
        <div key={id} className="spread">
          <div>
            <strong>{name}</strong>
            <div className="soft small">Gone on {sayMoment(ends_at)}</div>
          </div>
          {role === 'owner' ? (
            <Button
              isPending={bringBack.isPending && bringBack.variables === id}
              onPress={() => bringBack.mutate(id)}
            >
              Bring back {name}
            </Button>
          ) : (
            <span className="soft small">An owner can bring it back.</span>
          )}
        </div>
      ))}
    </Card>
  );
}
