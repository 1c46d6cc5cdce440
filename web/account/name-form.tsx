import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { ApiProblem, patch } from '../api/client.ts';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { toastDone } from '../design/toast.tsx';
import { refreshSession } from '../shell/session.ts';

/** The person's name, as other members see it. */
export function NameForm({ name }: { name: string }): ReactElement {
  const [text, setText] = useState(name);
  const save = useMutation({
    mutationFn: () => patch('/person', { name: text }),
    async onSuccess() {
      await refreshSession();
      toastDone('Your name was changed.');
    },
  });
  const problem = save.error instanceof ApiProblem ? save.error.of('name') : undefined;
  return (
    <Form
      className="stack"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <TextField
        label="Name"
        autoComplete="name"
        value={text}
        onChange={setText}
        error={problem}
        description="Other members see it."
      />
      {save.error && !problem && <Message tone="bad">{save.error.message}</Message>}
      <div className="row">
        <Button type="submit" isPending={save.isPending}>
          Save name
        </Button>
      </div>
    </Form>
  );
}
