import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../api/client.ts';
import { callOwn } from '../api/operations.ts';
import { CardForm } from '../design/card-form.tsx';
import { TextField } from '../design/field.tsx';
import { toastDone } from '../design/toast.tsx';

/** Changes the password; every other session of the person ends. */
export function PasswordForm({
  currentLabel = 'Current password',
  onChanged,
}: {
  currentLabel?: string;
  /** What goes on once it is changed, where that is what one came for. */
  onChanged?: () => Promise<void>;
}): ReactElement {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useMutation({
    mutationFn: () => callOwn('changePassword', { body: { current_password: current, new_password: next } }),
    async onSuccess() {
      await onChanged?.();
      setCurrent('');
      setNext('');
      toastDone('Your password was changed. You were signed out everywhere else.');
    },
  });
  const problem = change.error instanceof ApiProblem ? change.error : undefined;
  return (
    <CardForm
      label="Change password"
      isMain={onChanged !== undefined}
      isPending={change.isPending}
      error={unlocatedProblem(change.error)}
      onSubmit={() => change.mutate()}
    >
      <TextField
        label={currentLabel}
        type="password"
        autoComplete="current-password"
        value={current}
        onChange={setCurrent}
        error={problem?.of('current_password')}
      />
      <TextField
        label="New password"
        description="At least 10 characters. A few words in a row are easy to remember and hard to guess."
        type="password"
        autoComplete="new-password"
        value={next}
        onChange={setNext}
        error={problem?.of('new_password')}
      />
    </CardForm>
  );
}
