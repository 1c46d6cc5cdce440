import { queryOptions, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { SecondFactors } from '#workspaces/sign-in/session-shapes.ts';
import { sessionOperationQuery } from '../api/operations.ts';
import { type Action, type ActionOptions, useAction } from '../design/action.tsx';
import { TextField } from '../design/field.tsx';
import { FormDialog } from '../design/form-dialog.tsx';

/** Two-factor methods and passkeys of the person. */
export const secondFactorsQuery = queryOptions(sessionOperationQuery('readSecondFactors', {}));

/** Whether sign-in needs two-factor. */
export const hasTwoFactor = ({ totp_since, passkeys }: SecondFactors): boolean =>
  totp_since !== null || passkeys.length > 0;

/** Asks for the password again. A person without one must have signed in within the last ten minutes. */
export function PasswordConfirmationField({
  value,
  onChange,
  error,
  autoFocus = false,
}: {
  value: string;
  onChange: (password: string) => void;
  error: string | undefined;
  autoFocus?: boolean;
}): ReactElement {
  const { data } = useQuery(secondFactorsQuery);
  if (data?.has_password === false)
    return (
      <p className="soft small">
        Your account has no password. You must have signed in within the last ten minutes.
      </p>
    );
  return (
    <TextField
      label="Your password"
      type="password"
      autoComplete="current-password"
      autoFocus={autoFocus}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}

type Question = { title: string; description: string; label: string; isDanger?: boolean };

/**
 * Asks for the password again. Otherwise, an unattended browser would be enough to change how a person signs
 * in.
 */
export function PasswordDialog({
  label,
  action,
  onSubmit,
  ...dialog
}: Question & {
  action: Pick<Action, 'error' | 'isPending' | 'of' | 'unlocated'>;
  onSubmit: (password: string) => void;
  onClose: () => void;
}): ReactElement {
  const [password, setPassword] = useState('');
  return (
    <FormDialog {...dialog} action={action} onSubmit={() => onSubmit(password)} submitLabel={label}>
      <PasswordConfirmationField
        autoFocus
        value={password}
        onChange={setPassword}
        error={action.of('password')}
      />
    </FormDialog>
  );
}

type Options<Reply, Thing> = Pick<ActionOptions<Reply, Thing>, 'onLeave' | 'onDone'> & {
  ask: (thing: Thing) => Question;
  run: (password: string, thing: Thing) => Promise<Reply>;
  done: (reply: Reply, thing: Thing) => string;
};

/** Returns an action that needs the person's password, and the dialog that asks for it. */
export function usePasswordAction<Reply, Thing = void>({
  ask,
  run,
  done,
  onLeave,
  onDone,
}: Options<Reply, Thing>): Pick<Action<Thing>, 'start' | 'dialog'> {
  const [asking, setAsking] = useState<{ thing: Thing }>();
  const action = useAction<Reply, { password: string; thing: Thing }>({
    run: ({ password, thing }) => run(password, thing),
    onLeave: (reply, { thing }) => onLeave?.(reply, thing),
    done: (reply, { thing }) => done(reply, thing),
    onDone(reply, { thing }) {
      setAsking(undefined);
      return onDone?.(reply, thing);
    },
  });
  return {
    start: (thing) => setAsking({ thing }),
    dialog: asking ? (
      <PasswordDialog
        {...ask(asking.thing)}
        action={action}
        onSubmit={(password) => action.mutate({ password, ...asking })}
        onClose={() => {
          setAsking(undefined);
          action.reset();
        }}
      />
    ) : null,
  };
}
