import './sign-in-screen.css';
import { useRouter, useSearch } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { callSessionOperation } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { type Action, useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { Form } from '../design/form.tsx';
import { type FieldSpecs, Fields } from '../design/form-dialog.tsx';
import { Logo } from '../design/icon.tsx';
import { Message } from '../design/message.tsx';
import { useTitle } from '../design/page.tsx';
import { readNextPath } from './next.ts';

/** A screen for people who are not signed in: a card with the logo and one heading. */
export function SignedOutCard({ title, children }: { title: string; children: ReactNode }): ReactElement {
  useTitle(title);
  return (
    <main className="sign-in" id="main" tabIndex={-1}>
      <div className="sign-in-card card">
        <header className="sign-in-header">
          <Logo size={40} />
          <h1>{title}</h1>
        </header>
        {children}
      </div>
    </main>
  );
}

/** The form of an entry screen. */
export function SignedOutForm<Given extends Readonly<Record<string, string>>>({
  action,
  begin,
  fields,
  label,
  children,
}: {
  action: Action<Given>;
  begin: NoInfer<Given>;
  fields: FieldSpecs<NoInfer<Given>>;
  /** The label of the submit button. */
  label: string;
  /** Rendered above the fields. */
  children?: ReactNode;
}): ReactElement {
  const [values, setValues] = useState(begin);
  return (
    <Form className="stack" isPending={action.isPending} onSubmit={() => action.mutate(values)}>
      {action.unlocated !== undefined && <Message tone="bad">{action.unlocated}</Message>}
      {children}
      <Fields fields={fields} values={values} onChange={setValues} action={action} />
      <Button type="submit" variant="primary" isPending={action.isPending}>
        {label}
      </Button>
    </Form>
  );
}

/** Lets a person leave a screen that must be completed before the console opens. */
export function SignOutButton(): ReactElement {
  const router = useRouter();
  const signOut = useAction({
    run: () => callSessionOperation('signOut', {}),
    onLeave() {
      queryClient.clear();
      return router.navigate({ to: '/sign-in' });
    },
    problem: 'toast',
  });
  return (
    <div className="row">
      <Button variant="quiet" onPress={() => signOut.start()}>
        Sign out
      </Button>
    </div>
  );
}

/**
 * Returns a function that opens the page the person wanted. It clears the cache, because their access may
 * have changed.
 */
export function useOpenNextPage(): () => Promise<void> {
  const router = useRouter();
  const search: { next?: unknown } = useSearch({ strict: false });
  return async () => {
    queryClient.clear();
    await router.navigate({ to: readNextPath(search.next), replace: true });
  };
}

/**
 * Counts down from `seconds` to 0 and restarts when `seconds` changes. Returns 0 if there is nothing to wait
 * for.
 */
export function useCountdown(seconds: number | undefined): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    if (seconds === undefined) {
      setLeft(0);
      return undefined;
    }
    const end = Date.now() + seconds * 1000;
    const updateLeft = (): void => setLeft(Math.max(0, Math.ceil((end - Date.now()) / 1000)));
    updateLeft();
    const timer = setInterval(updateLeft, 250);
    return () => clearInterval(timer);
  }, [seconds]);
  return left;
}

export const formatRetryWait = (seconds: number): string => {
  if (seconds > 5_400)
    return `Too many attempts. Try again in ${formatCount(Math.round(seconds / 3_600), 'hour')}.`;
  if (seconds > 90)
    return `Too many attempts. Try again in ${formatCount(Math.round(seconds / 60), 'minute')}.`;
  return `Too many attempts. Try again in ${formatCount(seconds, 'second')}.`;
};
