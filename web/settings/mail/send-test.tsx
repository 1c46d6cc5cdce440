import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Form } from '../../design/form.tsx';
import { Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import { useSession } from '../../shell/session.ts';

/** Sends one mail at once, and says what the mail server answered. */
export function SendTest({ workspace }: { workspace: string }): ReactElement {
  const { user } = useSession();
  const [to, setTo] = useState(user.email);
  const send = useMutation({
    mutationFn: () => call(workspace, 'testMail', { body: { to } }),
  });
  const problem = send.error instanceof ApiProblem ? send.error : undefined;
  return (
    <Card title="Send a test">
      <Form className="mail-test" isPending={send.isPending} onSubmit={() => send.mutate()}>
        <TextField
          label="To"
          type="text"
          inputMode="email"
          autoComplete="off"
          value={to}
          onChange={setTo}
          error={problem?.of('to')}
        />
        <Button type="submit" icon="send" isPending={send.isPending}>
          Send test
        </Button>
      </Form>
      <div role="status" className="mail-result">
        {send.data && <Message tone={send.data.sent ? 'good' : 'warn'}>{send.data.result}</Message>}
      </div>
      {send.error && problem?.of('to') === undefined && <Message tone="bad">{send.error.message}</Message>}
    </Card>
  );
}
