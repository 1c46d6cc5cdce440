import './sign-in-screen.css';
import { useMutation } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { type ReactElement, useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { ApiProblem } from '../api/client.ts';
import { callOwn } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Logo } from '../design/icon.tsx';
import { Message } from '../design/message.tsx';
import { useTitle } from '../design/page.tsx';
import { useCountdown } from './countdown.ts';
import { readNext } from './next.ts';

/** Signs in by email address and password, and leads to where the person wanted to be. */
export function SignInScreen(): ReactElement {
  useTitle('Sign in');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const passwordInput = useRef<HTMLInputElement>(null);
  const router = useRouter();
  const search: { next?: unknown } = useSearch({ strict: false });
  const enter = useMutation({
    mutationFn: () => callOwn('signIn', { body: { email, password } }),
    async onSuccess() {
      queryClient.clear();
      await router.navigate({ to: readNext(search.next), replace: true });
    },
    onError() {
      setPassword('');
      passwordInput.current?.focus();
    },
  });
  const wait = useCountdown(enter.error instanceof ApiProblem ? enter.error.retryAfter : undefined);
  return (
    <main className="sign-in" id="main" tabIndex={-1}>
      <div className="sign-in-card card">
        <header className="sign-in-header">
          <Logo size={40} />
          <h1>Sign in to Formloom</h1>
        </header>
        <Form
          className="stack"
          validationBehavior="aria"
          onSubmit={(event) => {
            event.preventDefault();
            if (wait === 0) enter.mutate();
          }}
        >
          {enter.error && <Message tone="bad">{wait > 0 ? sayWait(wait) : explain(enter.error)}</Message>}
          <TextField
            label="Email address"
            type="email"
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
        <p className="small">
          <Link to="/forgot-password">Forgot your password?</Link>
        </p>
      </div>
    </main>
  );
}

const sayWait = (seconds: number): string =>
  `Too many tries. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;

const explain = (error: Error): string =>
  error instanceof ApiProblem && error.retryAfter !== undefined ? 'You can try again now.' : error.message;
