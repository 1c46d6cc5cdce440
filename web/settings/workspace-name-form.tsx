import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { WorkspaceDetail } from './workspace.ts';
import { ApiProblem, isStale, unlocatedProblem } from '../api/client.ts';
import { call } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { CardForm } from '../design/card-form.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { TextField } from '../design/field.tsx';
import { toastDone } from '../design/toast.tsx';
import { refreshSession } from '../shell/session.ts';
import { workspaceQuery } from './workspace.ts';

/** The workspace's name, and its id for those who work with the API. */
export function WorkspaceNameForm({
  workspace,
  isReadOnly,
}: {
  workspace: WorkspaceDetail;
  isReadOnly: boolean;
}): ReactElement {
  const [name, setName] = useState(workspace.name);
  const save = useMutation({
    mutationFn: () => call(workspace.id, 'changeWorkspace', { body: { name } }, { seen: workspace }),
    async onSuccess() {
      await Promise.all([refreshSession(), queryClient.invalidateQueries(workspaceQuery(workspace.id))]);
      toastDone('The workspace was renamed.');
    },
  });
  const problem = save.error instanceof ApiProblem ? save.error.of('name') : undefined;
  return (
    <CardForm
      label={isReadOnly ? undefined : 'Save name'}
      isPending={save.isPending}
      error={unlocatedProblem(save.error)}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        error={problem}
        isDisabled={isReadOnly}
        description={sayBeside(workspace, isReadOnly, isStale(save.error))}
        autoComplete="organization"
      />
      <CopyField label="Workspace id" text={workspace.id} />
    </CardForm>
  );
}

function sayBeside({ name }: WorkspaceDetail, isReadOnly: boolean, isOther: boolean): string | undefined {
  if (isOther) return `It is called “${name}” now.`;
  return isReadOnly ? 'Admins can change it.' : undefined;
}
