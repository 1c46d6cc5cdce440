import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { PasswordDialog } from '../account/second-factor/password-dialog.tsx';
import { callOwn, download } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { refreshSession } from '../shell/session.ts';
import type { WorkspaceDetail } from './workspace.ts';

/** The end of a workspace, for its owners: what is in it can be taken along, and for seven days it can be brought back. */
export function DeleteWorkspace({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: (password: string) =>
      callOwn('deleteWorkspace', { params: { id: workspace.id }, body: { password } }),
    async onSuccess() {
      await refreshSession();
      await navigate({ to: '/account' });
      toastDone(`${workspace.name} is closed, and gone in 7 days.`);
    },
  });
  const close = (): void => {
    setAsking(false);
    remove.reset();
  };
  const save = (begun: Promise<void>): void => void begun.catch(toastProblem);
  return (
    <div className="stack">
      <div className="row">
        <Button icon="download" onPress={() => save(download(workspace.id, 'exportAuditLog', { query: {} }))}>
          Download the activity
        </Button>
        <Button variant="danger" onPress={() => setAsking(true)}>
          Delete workspace
        </Button>
      </div>
      {isAsking && (
        <PasswordDialog
          title={`Delete ${workspace.name}?`}
          description="Its forms, pages, webhooks and API keys stop at once, for everybody. In 7 days all of it is gone, with every submission and file; until then an owner can bring it back from their account."
          submitLabel="Delete the workspace"
          isDanger
          asked={remove}
          onClose={close}
        />
      )}
    </div>
  );
}
