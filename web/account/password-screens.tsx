import { Link, useParams, useRouter } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { ApiProblem } from '../api/client.ts';
import { callSessionOperation } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { useAction } from '../design/action.tsx';
import { FieldsForm } from '../design/form-dialog.tsx';
import { Message } from '../design/message.tsx';
import { SignedOutCard, SignedOutForm } from './entry-card.tsx';

const newPassword = {
  label: 'New password',
  description: 'At least 10 characters. A few words in a row are easy to remember and hard to guess.',
  type: 'password',
  autoComplete: 'new-password',
} as const;

/** Changes the password and ends all other sessions of the person. */
export function PasswordForm({
  currentLabel = 'Current password',
  onChanged,
}: {
  currentLabel?: string;
  /** Runs after the password changes. Set on the screen where the person must choose a new password. */
  onChanged?: () => Promise<void>;
}): ReactElement {
  const change = useAction({
    run: (body: { current_password: string; new_password: string }) =>
      callSessionOperation('changePassword', { body }),
    onLeave: onChanged,
  });
  return (
    <FieldsForm
      label="Change password"
      isMain={onChanged !== undefined}
      isCleared
      action={change}
      begin={{ current_password: '', new_password: '' }}
      fields={{
        current_password: { label: currentLabel, type: 'password', autoComplete: 'current-password' },
        new_password: newPassword,
      }}
    />
  );
}

/** Emails a link to choose another password. The response is the same for every address. */
export function ForgotPasswordScreen(): ReactElement {
  const request = useAction({
    run: (body: { email: string }) => callSessionOperation('askForPasswordReset', { body }),
  });
  return (
    <SignedOutCard title="Forgot your password?">
      <div role="status" className={request.isSuccess ? undefined : 'unseen'}>
        {request.isSuccess && (
          <Message tone="good" title="Check your inbox">
            If there is an account for {request.variables.email}, we have sent a link to it. The link can be
            used once, within one hour.
          </Message>
        )}
      </div>
      {!request.isSuccess && (
        <>
          <p className="soft">We will email you a link to choose a new password.</p>
          <SignedOutForm
            action={request}
            label="Send me a link"
            begin={{ email: '' }}
            fields={{
              email: {
                label: 'Email address',
                type: 'text',
                inputMode: 'email',
                autoComplete: 'username',
                autoFocus: true,
              },
            }}
          />
        </>
      )}
      <p className="small">
        <Link to="/sign-in">Back to sign-in</Link>
      </p>
    </SignedOutCard>
  );
}

/** The page behind a password reset link: sets a new password and signs in. */
export function ResetPasswordScreen(): ReactElement {
  const token = useParams({ strict: false }).token!;
  const router = useRouter();
  const choose = useAction({
    async run({ password }: { password: string }) {
      const { email } = await callSessionOperation('finishPasswordReset', { body: { token, password } });
      await callSessionOperation('signIn', { body: { email, password } });
    },
    onDone() {
      queryClient.clear();
      return router.navigate({ to: '/', replace: true });
    },
  });
  const { error } = choose;
  return (
    <SignedOutCard title="Choose a new password">
      {error instanceof ApiProblem && error.status === 410 ? (
        <>
          <Message tone="bad">{error.message}</Message>
          <Link to="/forgot-password">Request another link</Link>
        </>
      ) : (
        <SignedOutForm
          action={choose}
          label="Save and sign in"
          begin={{ password: '' }}
          fields={{ password: { ...newPassword, autoFocus: true } }}
        />
      )}
    </SignedOutCard>
  );
}
