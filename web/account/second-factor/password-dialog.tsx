import { type UseMutationResult } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { FormDialog } from '../../design/form-dialog.tsx';
import { OwnPassword } from './own-password.tsx';

/** Asks for the password again: a browser that was left open does not change how one signs in. */
export function PasswordDialog({
  title,
  description,
  submitLabel,
  isDanger = false,
  asked,
  onClose,
}: {
  title: string;
  description: string;
  submitLabel: string;
  isDanger?: boolean;
  /** What is done with the password. */
  asked: UseMutationResult<unknown, Error, string>;
  onClose: () => void;
}): ReactElement {
  const [password, setPassword] = useState('');
  return (
    <FormDialog
      title={title}
      description={description}
      isOpen
      onClose={onClose}
      onSubmit={() => asked.mutate(password)}
      submitLabel={submitLabel}
      isDanger={isDanger}
      isPending={asked.isPending}
      error={unlocatedProblem(asked.error)}
    >
      <OwnPassword
        autoFocus
        value={password}
        onChange={setPassword}
        error={asked.error instanceof ApiProblem ? asked.error.of('password') : undefined}
      />
    </FormDialog>
  );
}
