import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { callOwn } from '../../api/operations.ts';
import { FormDialog } from '../../design/form-dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { refreshSession } from '../session.ts';

/** Makes a workspace and goes there. */
export function CreateWorkspaceDialog({
  isOpen,
  onClose,
}: {
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  const [name, setName] = useState('');
  const navigate = useNavigate();
  const close = (): void => {
    setName('');
    create.reset();
    onClose();
  };
  const create = useMutation({
    mutationFn: () => callOwn('createWorkspace', { body: { name } }),
    async onSuccess({ id }) {
      await refreshSession();
      close();
      await navigate({ to: '/w/$workspace/forms', params: { workspace: id } });
    },
  });
  const problem = create.error instanceof ApiProblem ? create.error : undefined;
  return (
    <FormDialog
      title="Create workspace"
      description="Forms, keys and members belong to a workspace. You will be its owner."
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => create.mutate()}
      submitLabel="Create workspace"
      isPending={create.isPending}
      error={unlocatedProblem(create.error)}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        error={problem?.of('name')}
        autoFocus
        autoComplete="organization"
      />
    </FormDialog>
  );
}
