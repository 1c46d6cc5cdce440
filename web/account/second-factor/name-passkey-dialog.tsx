import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { SecondFactors } from '#console/accounts/shapes.ts';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { callOwn } from '../../api/operations.ts';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';

/** Gives a passkey another name. */
export function NamePasskeyDialog({
  passkey,
  onNamed,
  onClose,
}: {
  passkey: SecondFactors['passkeys'][number];
  onNamed: () => Promise<void>;
  onClose: () => void;
}): ReactElement {
  const [name, setName] = useState(passkey.name);
  const save = useMutation({
    mutationFn: () => callOwn('renamePasskey', { params: { id: passkey.id }, body: { name } }),
    onSuccess: onNamed,
  });
  return (
    <FormDialog
      title={`Rename ${passkey.name}`}
      isOpen
      onClose={onClose}
      onSubmit={() => save.mutate()}
      submitLabel="Rename"
      isPending={save.isPending}
      error={unlocatedProblem(save.error)}
    >
      <TextField
        label="Name of the passkey"
        autoComplete="off"
        autoFocus
        value={name}
        onChange={setName}
        error={save.error instanceof ApiProblem ? save.error.of('name') : undefined}
      />
    </FormDialog>
  );
}
