import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useRef, useState } from 'react';
import type { Session } from '#console/accounts/shapes.ts';
import { ApiProblem } from '../api/client.ts';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Form } from '../design/form.tsx';
import { Message } from '../design/message.tsx';
import { useSession } from '../shell/session.ts';
import { sayWait, useCountdown } from './countdown.ts';
import { EntryCard } from './entry-card.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { SignOutButton } from './sign-out-button.tsx';
import { useGoOn } from './use-go-on.ts';

type SecondStep = NonNullable<Session['second_steps']>[number];

/** What is typed in each of the steps that are typed. */
const typed = {
  totp: {
    label: 'Code of your authenticator app',
    description: 'Six digits, which change every half minute.',
    switchLabel: 'Use the authenticator app',
    inputMode: 'numeric',
    autoComplete: 'one-time-code',
  },
  recovery_code: {
    label: 'Recovery code',
    description: 'One of those that you kept when you set this up. Each works once.',
    switchLabel: 'Use a recovery code',
    inputMode: 'text',
    autoComplete: 'off',
  },
} as const;
type Typed = keyof typeof typed;

const isTyped = (step: SecondStep): step is Typed => Object.hasOwn(typed, step);

/** The second step of the sign-in, before which nothing else is open. */
export function SecondStepScreen(): ReactElement {
  const { second_steps, user } = useSession();
  const steps = (second_steps ?? []).filter(isTyped);
  const [chosen, choose] = useState<Typed>();
  const way = chosen ?? steps[0];
  return (
    <EntryCard title="Is it you?">
      <p className="soft">You signed in as {user.email}. Confirm it in a second step.</p>
      {second_steps?.includes('passkey') && <PasskeyButton />}
      {way && <CodeForm key={way} way={way} />}
      <div className="stack-tight">
        {steps
          .filter((step) => step !== way)
          .map((step) => (
            <div key={step} className="row">
              <Button variant="quiet" onPress={() => choose(step)}>
                {typed[step].switchLabel}
              </Button>
            </div>
          ))}
        <SignOutButton />
      </div>
      <p className="small soft">
        Nothing of it at hand? Whoever runs this service can take the second step away, when they are sure
        that it is you.
      </p>
    </EntryCard>
  );
}

function CodeForm({ way }: { way: Typed }): ReactElement {
  const { label, description, inputMode, autoComplete } = typed[way];
  const [code, setCode] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const goOn = useGoOn();
  const take = useMutation({
    mutationFn: () => callOwn('takeSecondStep', { body: { code } }),
    onSuccess: goOn,
    onError() {
      setCode('');
      input.current?.focus();
    },
  });
  const problem = take.error instanceof ApiProblem ? take.error : undefined;
  const wait = useCountdown(problem?.retryAfter);
  const error = problem?.of('code');
  return (
    <Form className="stack" isPending={take.isPending} onSubmit={() => wait === 0 && take.mutate()}>
      {wait > 0 && <Message tone="bad">{sayWait(wait)}</Message>}
      {take.error && problem?.retryAfter === undefined && error === undefined && (
        <Message tone="bad">{take.error.message}</Message>
      )}
      <TextField
        label={label}
        description={description}
        inputMode={inputMode}
        autoComplete={autoComplete}
        autoFocus
        value={code}
        onChange={setCode}
        error={error}
        inputRef={input}
      />
      <Button type="submit" variant="primary" isPending={take.isPending} isDisabled={wait > 0}>
        Confirm
      </Button>
    </Form>
  );
}
