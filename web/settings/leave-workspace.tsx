import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { WorkspaceDetail } from './workspace.ts';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { ConfirmChange } from '../design/dialog.tsx';
import { refreshSession } from '../shell/session.ts';

/** Ends the person's own membership. */
export function LeaveWorkspace({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const navigate = useNavigate();
  const leave = useMutation({
    mutationFn: () => callOwn('leaveWorkspace', { params: { id: workspace.id } }),
    async onSuccess() {
      await refreshSession();
      await navigate({ to: '/' });
    },
  });
  return (
    <div className="row">
      <Button onPress={() => setAsking(true)}>Leave workspace</Button>
      <ConfirmChange
        title={`Leave ${workspace.name}?`}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        confirmLabel="Leave workspace"
        change={leave}
      >
        You will not see its forms and submissions any more, and the API keys that you made are revoked.
      </ConfirmChange>
    </div>
  );
}
