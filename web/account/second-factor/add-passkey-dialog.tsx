import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { callOwn } from '../../api/operations.ts';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { useSession } from '../../shell/session.ts';
import { OwnPassword } from './own-password.tsx';
import { makePasskey } from './web-authn.ts';

/** Adds a passkey: a name for it and the password, and then what the browser asks. */
export function AddPasskeyDialog({
  onAdded,
  onClose,
}: {
  /** With recovery codes, where these are the first. */
  onAdded: (codes: readonly string[] | null) => Promise<void>;
  onClose: () => void;
}): ReactElement {
  const { user } = useSession();
  const [given, setGiven] = useState({ name: '', password: '' });
  const add = useMutation({
    async mutationFn() {
      const request = await callOwn('startPasskey', { body: { password: given.password } });
      const made = await makePasskey(request, user);
      return callOwn('addPasskey', { body: { name: given.name, ...made } });
    },
    onSuccess: ({ recovery_codes }) => onAdded(recovery_codes),
  });
  const problem = add.error instanceof ApiProblem ? add.error : undefined;
  return (
    <FormDialog
      title="Add a passkey"
      description="It signs you in by your finger, face or PIN, without a password, and cannot be given away to a copy of this page."
      isOpen
      onClose={onClose}
      onSubmit={() => add.mutate()}
      submitLabel="Continue"
      isPending={add.isPending}
      error={unlocatedProblem(add.error)}
    >
      <TextField
        label="Name of the passkey"
        description="What you recognise it by, such as “My laptop”."
        autoComplete="off"
        autoFocus
        isRequired
        value={given.name}
        onChange={(name) => setGiven({ ...given, name })}
        error={problem?.of('name')}
      />
      <OwnPassword
        value={given.password}
        onChange={(password) => setGiven({ ...given, password })}
        error={problem?.of('password')}
      />
    </FormDialog>
  );
}
