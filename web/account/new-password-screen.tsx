import './sign-in-screen.css';
import { useRouter, useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { callOwn } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { Logo } from '../design/icon.tsx';
import { useTitle } from '../design/page.tsx';
import { toastProblem } from '../design/toast.tsx';
import { useSession } from '../shell/session.ts';
import { readNext } from './next.ts';
import { PasswordForm } from './password-form.tsx';

/** Whoever signed in with a temporary password chooses one of their own here, before anything else is open. */
export function NewPasswordScreen(): ReactElement {
  useTitle('Choose a password');
  const { user } = useSession();
  const router = useRouter();
  const search: { next?: unknown } = useSearch({ strict: false });
  const goOn = async (): Promise<void> => {
    queryClient.clear();
    await router.navigate({ to: readNext(search.next), replace: true });
  };
  const signOut = async (): Promise<void> => {
    try {
      await callOwn('signOut', {});
      queryClient.clear();
      await router.navigate({ to: '/sign-in' });
    } catch (error) {
      toastProblem(error);
    }
  };
  return (
    <main className="sign-in" id="main" tabIndex={-1}>
      <div className="sign-in-card card">
        <header className="sign-in-header">
          <Logo size={40} />
          <h1>Choose a password of your own</h1>
        </header>
        <p className="soft">
          You signed in as {user.email} with a temporary password, which others have seen. Change it now to go
          on.
        </p>
        <PasswordForm currentLabel="Temporary password" onChanged={goOn} />
        <div className="row">
          <Button variant="quiet" onPress={() => void signOut()}>
            Sign out
          </Button>
        </div>
      </div>
    </main>
  );
}
