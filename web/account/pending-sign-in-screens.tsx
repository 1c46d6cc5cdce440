import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useRef, useState } from 'react';
import type { Session } from '#workspaces/sign-in/session-shapes.ts';
import { ApiProblem } from '../api/client.ts';
import { callSessionOperation } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Form } from '../design/form.tsx';
import { Message } from '../design/message.tsx';
import { formatDateTime } from '../design/time.tsx';
import { useSession } from '../shell/session.ts';
import {
  formatRetryWait,
  SignedOutCard,
  SignOutButton,
  useCountdown,
  useOpenNextPage,
} from './entry-card.tsx';
import { hasTwoFactor, secondFactorsQuery } from './password-dialog.tsx';
import { PasswordForm } from './password-screens.tsx';
import { SecondFactorList } from './second-factor-card.tsx';
import { PasskeyButton } from './sign-in-screen.tsx';

/** Shown after sign-in if the account is being deleted: the person restores it or signs out. */
export function AccountDeletionScreen(): ReactElement {
  const { user } = useSession();
  const goOn = useOpenNextPage();
  const comeBack = useAction({ run: () => callSessionOperation('bringBackAccount', {}), onDone: goOn });
  return (
    <SignedOutCard title="Your account is being deleted">
      <p className="soft">
        {user.email} will be permanently deleted
        {user.ends_at !== null && <> on {formatDateTime(user.ends_at)}</>}. Until then you can restore it with
        all its data.
      </p>
      {comeBack.error && <Message tone="bad">{comeBack.error.message}</Message>}
      <Button variant="primary" {...comeBack.press()}>
        Keep my account
      </Button>
      <SignOutButton />
    </SignedOutCard>
  );
}

/** Shown after sign-in with a temporary password: the person must choose another before the console opens. */
export function NewPasswordScreen(): ReactElement {
  const { user } = useSession();
  const goOn = useOpenNextPage();
  return (
    <SignedOutCard title="Choose your own password">
      <p className="soft">
        You signed in as {user.email} with a temporary password that others may know. Change it to continue.
      </p>
      <PasswordForm currentLabel="Temporary password" onChanged={goOn} />
      <SignOutButton />
    </SignedOutCard>
  );
}

/**
 * Shown if a workspace requires two-factor and the person has none: they set it up before the workspace
 * opens.
 */
export function TwoFactorSetupScreen(): ReactElement {
  const { workspaces, closed_workspaces } = useSession();
  const { data } = useQuery(secondFactorsQuery);
  const goOn = useOpenNextPage();
  const closed = workspaces.filter(({ id }) => closed_workspaces.includes(id)).map(({ name }) => name);
  const open = workspaces.find(({ id }) => !closed_workspaces.includes(id));
  return (
    <SignedOutCard title="Two-factor authentication required">
      <p className="soft">
        {closed.length > 0 ? new Intl.ListFormat('en').format(closed) : 'Your workspace'} cannot be opened
        without two-factor authentication. Set up an authenticator app or a passkey to continue.
      </p>
      <SecondFactorList />
      <Button
        variant="primary"
        isDisabled={data === undefined || !hasTwoFactor(data)}
        onPress={() => void goOn()}
      >
        Continue
      </Button>
      {open && (
        <Link to="/w/$workspace/forms" params={{ workspace: open.id }}>
          Go to {open.name} instead
        </Link>
      )}
      <SignOutButton />
    </SignedOutCard>
  );
}

type TwoFactorMethod = NonNullable<Session['second_steps']>[number];

/** The two-factor methods that use a typed code. */
const typed = {
  totp: {
    label: 'Code from your authenticator app',
    description: 'Six digits that change every 30 seconds.',
    switchLabel: 'Use the authenticator app',
    inputMode: 'numeric',
    autoComplete: 'one-time-code',
  },
  recovery_code: {
    label: 'Recovery code',
    description: 'One of the codes you saved during setup. Each code works once.',
    switchLabel: 'Use a recovery code',
    inputMode: 'text',
    autoComplete: 'off',
  },
} as const;
type Typed = keyof typeof typed;

const isTyped = (step: TwoFactorMethod): step is Typed => Object.hasOwn(typed, step);

/** Asks for two-factor after the password. The console stays closed until then. */
export function TwoFactorScreen(): ReactElement {
  const { second_steps, user } = useSession();
  const steps = (second_steps ?? []).filter(isTyped);
  const [chosen, choose] = useState<Typed>();
  const method = chosen ?? steps[0];
  return (
    <SignedOutCard title="Two-factor authentication">
      <p className="soft">You signed in as {user.email}. Confirm that it’s you.</p>
      {second_steps?.includes('passkey') && <PasskeyButton />}
      {method && <CodeForm key={method} method={method} />}
      <div className="stack-tight">
        {steps
          .filter((step) => step !== method)
          .map((step) => (
            <div key={step} className="row">
              <Button variant="quiet" onPress={() => choose(step)}>
                {typed[step].switchLabel}
              </Button>
            </div>
          ))}
        <SignOutButton />
      </div>
      <p className="small soft">
        Lost access to all of these? The operator of this service can turn off two-factor for your account.
      </p>
    </SignedOutCard>
  );
}

function CodeForm({ method }: { method: Typed }): ReactElement {
  const { label, description, inputMode, autoComplete } = typed[method];
  const [code, setCode] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const goOn = useOpenNextPage();
  const verify = useAction({
    run: () => callSessionOperation('takeSecondStep', { body: { code } }),
    onDone: goOn,
    onProblem() {
      setCode('');
      input.current?.focus();
    },
  });
  const retryAfter = verify.error instanceof ApiProblem ? verify.error.retryAfter : undefined;
  const wait = useCountdown(retryAfter);
  return (
    <Form className="stack" isPending={verify.isPending} onSubmit={() => wait === 0 && verify.mutate()}>
      {wait > 0 && <Message tone="bad">{formatRetryWait(wait)}</Message>}
      {verify.unlocated !== undefined && retryAfter === undefined && (
        <Message tone="bad">{verify.unlocated}</Message>
      )}
      <TextField
        label={label}
        description={description}
        inputMode={inputMode}
        autoComplete={autoComplete}
        autoFocus
        value={code}
        onChange={setCode}
        error={verify.of('code')}
        inputRef={input}
      />
      <Button type="submit" variant="primary" isPending={verify.isPending} isDisabled={wait > 0}>
        Confirm
      </Button>
    </Form>
  );
}
