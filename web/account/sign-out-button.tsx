import { useRouter } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { callOwn } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { toastProblem } from '../design/toast.tsx';

/** The way out of a screen that has to be passed before anything else is open. */
export function SignOutButton(): ReactElement {
  const router = useRouter();
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
    <div className="row">
      <Button variant="quiet" onPress={() => void signOut()}>
        Sign out
      </Button>
    </div>
  );
}
