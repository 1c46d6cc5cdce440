import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { PasswordDialog } from '../account/second-factor/password-dialog.tsx';
import { callOwn, download } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { Loading } from '../design/states.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { refreshSession } from '../shell/session.ts';
import { formNamesQuery, type WorkspaceDetail } from './workspace.ts';

/** The end of a workspace, for its owners: what is in it can be taken along, and for seven days it can be brought back. */
export function DeleteWorkspace({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const [isTaking, setTaking] = useState(false);
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
  return (
    <div className="stack">
      <div className="row">
        <Button icon="download" onPress={() => setTaking(!isTaking)}>
          Take the data along
        </Button>
        <Button variant="danger" onPress={() => setAsking(true)}>
          Delete workspace
        </Button>
      </div>
      {isTaking && <Exports workspaceId={workspace.id} />}
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

/** Every form with its submissions, to be downloaded one by one, and the activity. */
function Exports({ workspaceId }: { workspaceId: string }): ReactElement {
  const forms = useQuery(formNamesQuery(workspaceId));
  if (forms.error) return <p>The forms could not be read: {forms.error.message}</p>;
  if (!forms.data) return <Loading lines={2} />;
  const save = (begun: Promise<void>): void => void begun.catch(toastProblem);
  return (
    <ul className="stack">
      {forms.data.map(({ id, name }) => (
        <li key={id} className="spread">
          <span>{name}</span>
          <span className="row">
            <Button
              onPress={() => save(download(workspaceId, 'packForm', { params: { id } }))}
              aria-label={`Download the form ${name}`}
            >
              Form
            </Button>
            <Button
              onPress={() =>
                save(
                  download(workspaceId, 'exportFormSubmissions', {
                    params: { id },
                    query: { format: 'ndjson' },
                  }),
                )
              }
              aria-label={`Download the submissions of ${name}`}
            >
              Submissions
            </Button>
          </span>
        </li>
      ))}
      <li className="spread">
        <span>Activity</span>
        <Button onPress={() => save(download(workspaceId, 'exportAuditLog', { query: {} }))}>
          Download the activity
        </Button>
      </li>
    </ul>
  );
}
