import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useId, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { toastDone } from '../../design/toast.tsx';
import { settingTitles } from './setting-words.ts';

type PasswordProps = {
  readonly hasPassword: boolean;
  readonly error: string | undefined;
  readonly isReadOnly: boolean;
  readonly setPassword: (password: string) => Promise<void>;
};

/** The password of the form. It alone holds at once, and says so: nobody can read it again, in no working copy and no version. */
export function PasswordField({ hasPassword, error, isReadOnly, setPassword }: PasswordProps): ReactElement {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="field" role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-note`}>
      <span id={`${id}-label`} className="field-label">
        {settingTitles.password}
      </span>
      <span id={`${id}-note`} className="field-description">
        {hasPassword ? 'One is set. It is never shown again. ' : 'None is set yet. '}
        It holds at once, without publishing, and is not part of the history.
      </span>
      <div className="row">
        <Button isDisabled={isReadOnly} onPress={() => setOpen(true)}>
          {hasPassword ? 'Change password' : 'Set password'}
        </Button>
      </div>
      {error && <div className="field-error">{error}</div>}
      {isOpen && (
        <PasswordDialog
          onClose={() => setOpen(false)}
          setPassword={setPassword}
          onSet={() => {
            setOpen(false);
            toastDone('The password holds from now on.');
          }}
        />
      )}
    </div>
  );
}

type DialogProps = Pick<PasswordProps, 'setPassword'> & {
  readonly onClose: () => void;
  readonly onSet: () => void;
};

function PasswordDialog({ setPassword, onClose, onSet }: DialogProps): ReactElement {
  const [password, setText] = useState('');
  const saving = useMutation({ mutationFn: () => setPassword(password), onSuccess: onSet });
  const problem = saving.error instanceof ApiProblem ? saving.error : undefined;
  return (
    <FormDialog
      title="Password of this form"
      isOpen
      onClose={onClose}
      onSubmit={() => saving.mutate()}
      submitLabel="Set password"
      isPending={saving.isPending}
      error={unlocatedProblem(saving.error)}
    >
      <TextField
        autoFocus
        type="password"
        label="New password"
        description="4 to 128 characters. It is kept so that nobody can read it, us included."
        autoComplete="new-password"
        isRequired
        value={password}
        onChange={setText}
        error={problem?.of('password')}
      />
    </FormDialog>
  );
}
