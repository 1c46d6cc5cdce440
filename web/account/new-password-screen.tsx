import type { ReactElement } from 'react';
import { useSession } from '../shell/session.ts';
import { EntryCard } from './entry-card.tsx';
import { PasswordForm } from './password-form.tsx';
import { SignOutButton } from './sign-out-button.tsx';
import { useGoOn } from './use-go-on.ts';

/** Whoever signed in with a temporary password chooses one of their own here, before anything else is open. */
export function NewPasswordScreen(): ReactElement {
  const { user } = useSession();
  const goOn = useGoOn();
  return (
    <EntryCard title="Choose a password of your own">
      <p className="soft">
        You signed in as {user.email} with a temporary password, which others have seen. Change it now to go
        on.
      </p>
      <PasswordForm currentLabel="Temporary password" onChanged={goOn} />
      <SignOutButton />
    </EntryCard>
  );
}
