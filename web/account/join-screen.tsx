import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useRouter } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';
import type { OpenInvitation } from '#workspaces/sign-in/session-shapes.ts';
import { ApiProblem } from '../api/client.ts';
import { callSessionOperation } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import { Loading } from '../design/states.tsx';
import { toastDone } from '../design/toast.tsx';
import { SignedOutCard, SignedOutForm } from './entry-card.tsx';

/**
 * The page behind a member invitation: the person joins with the account of that address or by choosing a
 * password.
 */
export function JoinScreen(): ReactElement {
  const token = useParams({ strict: false }).token!;
  const { data, error } = useQuery({
    queryKey: ['join', token],
    queryFn: async () => ({
      invitation: await callSessionOperation('openMemberInvitation', { body: { token } }),
      person: await readPerson(),
    }),
    retry: false,
  });
  if (error)
    return (
      <SignedOutCard title="This invitation is not valid">
        <Message tone="bad">{error.message}</Message>
        <Link to="/">Go to Formloom</Link>
      </SignedOutCard>
    );
  if (!data)
    return (
      <SignedOutCard title="Invitation">
        <Loading label="Opening the invitation…" />
      </SignedOutCard>
    );
  const { invitation, person } = data;
  return (
    <SignedOutCard title={`Join ${invitation.workspace}`}>
      <p>
        {invitation.invited_by === null ? 'You are invited' : `${invitation.invited_by} invited you`} to join{' '}
        <strong>{invitation.workspace}</strong> as {invitation.role}.
      </p>
      <JoinMethod token={token} invitation={invitation} person={person} />
    </SignedOutCard>
  );
}

function JoinMethod({
  token,
  invitation: { email, way },
  person,
}: {
  token: string;
  invitation: OpenInvitation;
  person: string | undefined;
}): ReactElement {
  if (way !== 'choose_password' && person === email) return <Accept token={token} email={email} />;
  if (way === 'sign_in')
    return (
      <SignInFirst token={token} isOnly>
        There is already an account for {email}. Sign in to join.
      </SignInFirst>
    );
  return (
    <>
      <NewAccount token={token} email={email} />
      {way === 'either' && (
        <SignInFirst token={token}>Already have an account with this address? Sign in to join.</SignInFirst>
      )}
    </>
  );
}

/** Returns the email address of the signed-in person. */
async function readPerson(): Promise<string | undefined> {
  try {
    return (await callSessionOperation('getSession', {})).user.email;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) return undefined;
    throw error;
  }
}

function useEnter(): () => Promise<void> {
  const router = useRouter();
  return async () => {
    queryClient.clear();
    await router.navigate({ to: '/', replace: true });
    toastDone('Welcome to the workspace.');
  };
}

function Accept({ token, email }: { token: string; email: string }): ReactElement {
  const enter = useEnter();
  const join = useAction({
    run: () => callSessionOperation('joinWorkspace', { body: { token } }),
    onDone: enter,
  });
  return (
    <>
      {join.error && <Message tone="bad">{join.error.message}</Message>}
      <p className="soft">You are signed in as {email}.</p>
      <Button variant="primary" {...join.press()}>
        Join workspace
      </Button>
    </>
  );
}

function SignInFirst({
  token,
  isOnly = false,
  children,
}: {
  token: string;
  /** Whether signing in is the only way to join. */
  isOnly?: boolean;
  children: ReactNode;
}): ReactElement {
  return (
    <>
      <p className="soft">{children}</p>
      <Link
        to="/sign-in"
        search={{ next: `/join/${token}` }}
        className={`button button-${isOnly ? 'primary' : 'secondary'} button-medium`}
      >
        Sign in
      </Link>
    </>
  );
}

function NewAccount({ token, email }: { token: string; email: string }): ReactElement {
  const enter = useEnter();
  const join = useAction({
    async run(given: { name: string; password: string }) {
      await callSessionOperation('joinByPassword', { body: { token, ...given } });
      await callSessionOperation('signIn', { body: { email, password: given.password } });
    },
    onDone: enter,
  });
  return (
    <SignedOutForm
      action={join}
      label="Join workspace"
      begin={{ name: '', password: '' }}
      fields={{
        name: { label: 'Your name', autoComplete: 'name', autoFocus: true },
        password: {
          label: 'Password',
          description: 'At least 10 characters.',
          type: 'password',
          autoComplete: 'new-password',
        },
      }}
    >
      <p className="soft">Choose a name and a password. You will sign in as {email}.</p>
    </SignedOutForm>
  );
}
