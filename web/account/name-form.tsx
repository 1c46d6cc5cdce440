import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../api/client.ts';
import { callOwn } from '../api/operations.ts';
import { CardForm } from '../design/card-form.tsx';
import { TextField } from '../design/field.tsx';
import { toastDone } from '../design/toast.tsx';
import { refreshSession } from '../shell/session.ts';

/** The person's name, as other members see it. */
export function NameForm({ name }: { name: string }): ReactElement {
  const [text, setText] = useState(name);
  const save = useMutation({
    mutationFn: () => callOwn('renamePerson', { body: { name: text } }),
    async onSuccess() {
      await refreshSession();
      toastDone('Your name was changed.');
    },
  });
  const problem = save.error instanceof ApiProblem ? save.error.of('name') : undefined;
  return (
    <CardForm
      label="Save name"
      isPending={save.isPending}
      error={unlocatedProblem(save.error)}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="Name"
        autoComplete="name"
        value={text}
        onChange={setText}
        error={problem}
        description="Other members see it."
      />
    </CardForm>
  );
}
