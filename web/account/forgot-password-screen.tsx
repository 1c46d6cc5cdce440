import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { ApiProblem } from '../api/client.ts';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Form } from '../design/form.tsx';
import { Message } from '../design/message.tsx';
import { EntryCard } from './entry-card.tsx';

/** Asks for a mail with a link to choose another password. The answer is the same for every address. */
export function ForgotPasswordScreen(): ReactElement {
  const [email, setEmail] = useState('');
  const ask = useMutation({ mutationFn: () => callOwn('askForPasswordReset', { body: { email } }) });
  const problem = ask.error instanceof ApiProblem ? ask.error : undefined;
  return (
    <EntryCard title="Forgot your password?">
      <div role="status" className={ask.isSuccess ? undefined : 'unseen'}>
        {ask.isSuccess && (
          <Message tone="good" title="Look into your inbox">
            If there is an account with the address {email}, a mail with a link is on its way. The link works
            once, for an hour.
          </Message>
        )}
      </div>
      {!ask.isSuccess && (
        <Form className="stack" isPending={ask.isPending} onSubmit={() => ask.mutate()}>
          <p className="soft">We mail you a link to choose a new one.</p>
          {ask.error && problem?.of('email') === undefined && (
            <Message tone="bad">{ask.error.message}</Message>
          )}
          <TextField
            label="Email address"
            type="text"
            inputMode="email"
            autoComplete="username"
            autoFocus
            value={email}
            onChange={setEmail}
            error={problem?.of('email')}
          />
          <Button type="submit" variant="primary" isPending={ask.isPending}>
            Send me a link
          </Button>
        </Form>
      )}
      <p className="small">
        <Link to="/sign-in">Back to the sign-in</Link>
      </p>
    </EntryCard>
  );
}
