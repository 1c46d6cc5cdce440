import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { AddedMember, NewMember, WorkspaceDetail } from '#console/accounts/shapes.ts';
import { ApiProblem, post, unlocatedProblem } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { FormDialog } from '../design/form-dialog.tsx';
import { TextField } from '../design/field.tsx';
import { toastDone } from '../design/toast.tsx';
import { NewMemberEmail, NewMemberRole } from './new-member-fields.tsx';
import { membersQuery, workspaceQuery } from './workspace.ts';

type Props = { workspace: WorkspaceDetail; isOpen: boolean; onClose: () => void };

/** Adds a person by address; for somebody new, shows the temporary password to hand over. */
export function AddMemberDialog({ workspace, isOpen, onClose }: Props): ReactElement {
  const [given, setGiven] = useState<NewMember>({ email: '', name: '', role: 'editor' });
  const add = useMutation({
    mutationFn: () =>
      post<AddedMember>(`/workspaces/${workspace.id}/members`, { ...given, name: given.name || undefined }),
    async onSuccess({ temporary_password }) {
      await Promise.all([
        queryClient.invalidateQueries(membersQuery(workspace.id)),
        queryClient.invalidateQueries(workspaceQuery(workspace.id)),
      ]);
      if (temporary_password !== null) return;
      toastDone(`${given.email} was added.`);
      close();
    },
  });
  const close = (): void => {
    setGiven({ email: '', name: '', role: 'editor' });
    add.reset();
    onClose();
  };
  if (add.data?.temporary_password) {
    return (
      <PasswordToHandOver
        email={given.email}
        password={add.data.temporary_password}
        isOpen={isOpen}
        onClose={close}
      />
    );
  }
  const problem = add.error instanceof ApiProblem ? add.error : undefined;
  return (
    <FormDialog
      title="Add member"
      description="Somebody who has an account here gets access at once. For anybody else an account is made."
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => add.mutate()}
      submitLabel="Add member"
      isPending={add.isPending}
      error={unlocatedProblem(add.error)}
    >
      <NewMemberEmail
        value={given.email}
        error={problem?.of('email')}
        onChange={(email) => setGiven({ ...given, email })}
      />
      <TextField
        label="Name"
        description="For a new account; you may leave it empty."
        autoComplete="off"
        value={given.name ?? ''}
        onChange={(name) => setGiven({ ...given, name })}
        error={problem?.of('name')}
      />
      <NewMemberRole
        workspace={workspace}
        value={given.role}
        onChange={(role) => setGiven({ ...given, role })}
      />
    </FormDialog>
  );
}

function PasswordToHandOver({
  email,
  password,
  isOpen,
  onClose,
}: {
  email: string;
  password: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="An account was made"
      isOpen={isOpen}
      onClose={onClose}
      isDismissable={false}
      size="medium"
      actions={
        <Button variant="primary" onPress={onClose}>
          I have handed it over
        </Button>
      }
    >
      <p>
        Give <strong>{email}</strong> this temporary password in a safe way. It is shown only now. They choose
        one of their own when they first sign in.
      </p>
      <CopyField label="Temporary password" text={password} />
    </Dialog>
  );
}
