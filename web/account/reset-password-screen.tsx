import { useMutation } from '@tanstack/react-query';
import { Link, useParams, useRouter } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { ApiProblem } from '../api/client.ts';
import { callOwn } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Form } from '../design/form.tsx';
import { Message } from '../design/message.tsx';
import { EntryCard } from './entry-card.tsx';

/** Where the link of a mail leads: a new password, and in. */
export function ResetPasswordScreen(): ReactElement {
  const token = useParams({ strict: false }).token!;
  const [password, setPassword] = useState('');
  const router = useRouter();
  const choose = useMutation({
    async mutationFn() {
      const { email } = await callOwn('finishPasswordReset', { body: { token, password } });
      await callOwn('signIn', { body: { email, password } });
    },
    async onSuccess() {
      queryClient.clear();
      await router.navigate({ to: '/', replace: true });
    },
  });
  const problem = choose.error instanceof ApiProblem ? choose.error : undefined;
  const isOver = problem?.status === 410;
  return (
    <EntryCard title="Choose a new password">
      {choose.error && problem?.of('password') === undefined && (
        <Message tone="bad">{choose.error.message}</Message>
      )}
      {isOver ? (
        <Link to="/forgot-password">Ask for another link</Link>
      ) : (
        <Form className="stack" isPending={choose.isPending} onSubmit={() => choose.mutate()}>
          <TextField
            label="New password"
            description="At least 10 characters. A few words in a row are easy to remember and hard to guess."
            type="password"
            autoComplete="new-password"
            autoFocus
            value={password}
            onChange={setPassword}
            error={problem?.of('password')}
          />
          <Button type="submit" variant="primary" isPending={choose.isPending}>
            Save and sign in
          </Button>
        </Form>
      )}
    </EntryCard>
  );
}
