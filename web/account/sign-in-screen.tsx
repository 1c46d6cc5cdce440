import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useRef, useState } from 'react';
import { ApiProblem } from '../api/client.ts';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Form } from '../design/form.tsx';
import { Message } from '../design/message.tsx';
import { sayWait, useCountdown } from './countdown.ts';
import { EntryCard } from './entry-card.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { ProviderButton, waysQuery } from './provider-button.tsx';
import { useGoOn } from './use-go-on.ts';

/** Signs in by email address and password, and leads to where the person wanted to be. */
export function SignInScreen(): ReactElement {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const passwordInput = useRef<HTMLInputElement>(null);
  const goOn = useGoOn();
  const { data: ways } = useQuery(waysQuery);
  const enter = useMutation({
    mutationFn: () => callOwn('signIn', { body: { email, password } }),
    onSuccess: goOn,
    onError() {
      setPassword('');
      passwordInput.current?.focus();
    },
  });
  const wait = useCountdown(enter.error instanceof ApiProblem ? enter.error.retryAfter : undefined);
  return (
    <EntryCard title="Sign in to Formloom">
      <Form className="stack" isPending={enter.isPending} onSubmit={() => wait === 0 && enter.mutate()}>
        {ways?.is_set_up === false && (
          <Message>
            Nobody has an account here yet. Open the link that the start of the service printed behind “Set
            up”: it makes the first one.
          </Message>
        )}
        {enter.error && <Message tone="bad">{wait > 0 ? sayWait(wait) : explain(enter.error)}</Message>}
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
    </EntryCard>
  );
}

const explain = (error: Error): string =>
  error instanceof ApiProblem && error.retryAfter !== undefined ? 'You can try again now.' : error.message;
