import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { ApiProblem } from '../api/client.ts';
import { callSessionOperation, sessionOperationQuery } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Form } from '../design/form.tsx';
import { Message } from '../design/message.tsx';
import { Loading } from '../design/states.tsx';
import { formatRetryWait, SignedOutCard, useCountdown, useOpenNextPage } from './entry-card.tsx';
import { readNextPath } from './next.ts';
import { canUsePasskeys, requestPasskeyAssertion } from './web-authn.ts';

/** Signs in with a passkey. Renders nothing if the browser does not support passkeys. */
export function PasskeyButton(): ReactElement | null {
  const goOn = useOpenNextPage();
  const enter = useAction({
    run: async () =>
      callSessionOperation('signInByPasskey', {
        body: await requestPasskeyAssertion(await callSessionOperation('askForPasskey', {})),
      }),
    meta: { isSignIn: true },
    onDone: goOn,
  });
  if (!canUsePasskeys()) return null;
  return (
    <div className="stack-tight">
      {enter.error && <Message tone="bad">{enter.error.message}</Message>}
      <Button icon="key" {...enter.press()}>
        Sign in with a passkey
      </Button>
    </div>
  );
}

const signInMethodsQuery = queryOptions(sessionOperationQuery('readWaysIn', {}));

/** The session storage key of the page to open when the provider sends the browser back. */
const nextKey = 'formloom.next';
const popNextPath = (): string => {
  const next = readNextPath(sessionStorage.getItem(nextKey));
  sessionStorage.removeItem(nextKey);
  return next;
};

/** Opens the identity provider. Renders nothing if none is configured. */
function ProviderButton(): ReactElement | null {
  const { data } = useQuery(signInMethodsQuery);
  const search: { next?: unknown } = useSearch({ strict: false });
  const start = useAction({
    run: () => callSessionOperation('askProvider', {}),
    onDone({ url }) {
      sessionStorage.setItem(nextKey, readNextPath(search.next));
      location.assign(url);
    },
  });
  if (!data?.provider) return null;
  return (
    <div className="stack-tight">
      {start.error && <Message tone="bad">{start.error.message}</Message>}
      <Button icon="people" isPending={start.isPending || start.isSuccess} onPress={() => start.mutate()}>
        Continue with {data.provider}
      </Button>
    </div>
  );
}

/** Signs in with email address and password, then opens the page the person wanted. */
export function SignInScreen(): ReactElement {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const passwordInput = useRef<HTMLInputElement>(null);
  const goOn = useOpenNextPage();
  const { data: ways } = useQuery(signInMethodsQuery);
  const enter = useAction({
    run: () => callSessionOperation('signIn', { body: { email, password } }),
    onDone: goOn,
    onProblem() {
      setPassword('');
      passwordInput.current?.focus();
    },
  });
  const wait = useCountdown(enter.error instanceof ApiProblem ? enter.error.retryAfter : undefined);
  return (
    <SignedOutCard title="Sign in to Formloom">
      <Form className="stack" isPending={enter.isPending} onSubmit={() => wait === 0 && enter.mutate()}>
        {ways?.is_set_up === false && (
          <Message>
            There are no accounts yet. To create the first one, open the link shown after “Set up” in the
            service’s startup output.
          </Message>
        )}
        {enter.error && (
          <Message tone="bad">{wait > 0 ? formatRetryWait(wait) : explain(enter.error)}</Message>
        )}
        <TextField
          label="Email address"
          type="text"
          inputMode="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          autoFocus
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          inputRef={passwordInput}
        />
        <Button type="submit" variant="primary" isPending={enter.isPending} isDisabled={wait > 0}>
          Sign in
        </Button>
      </Form>
      <PasskeyButton />
      <ProviderButton />
      <p className="small">
        <Link to="/forgot-password">Forgot your password?</Link>
      </p>
    </SignedOutCard>
  );
}

const explain = (error: Error): string =>
  error instanceof ApiProblem && error.retryAfter !== undefined ? 'You can try again now.' : error.message;

/**
 * The page that the identity provider redirects to. It sends the provider's response to the service only
 * once.
 */
export function ProviderReturnScreen(): ReactElement {
  const router = useRouter();
  const answer = location.search;
  const { error, isSuccess } = useQuery({
    queryKey: ['signed-in', answer],
    queryFn: async () => {
      await callSessionOperation('signInByProvider', { body: { answer } });
      return true;
    },
    retry: false,
    staleTime: Infinity,
  });
  useEffect(() => {
    if (!isSuccess) return;
    queryClient.clear();
    void router.navigate({ to: popNextPath(), replace: true });
  }, [isSuccess, router]);
  return (
    <SignedOutCard title={error ? 'You are not signed in' : 'One moment…'}>
      {error ? <Message tone="bad">{error.message}</Message> : <Loading label="Signing you in…" />}
      {error && <Link to="/sign-in">Back to sign-in</Link>}
    </SignedOutCard>
  );
}
