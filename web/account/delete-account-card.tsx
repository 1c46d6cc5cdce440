import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { callOwn } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { Card } from '../design/page.tsx';
import { toastDone } from '../design/toast.tsx';
import { PasswordDialog } from './second-factor/password-dialog.tsx';

/** The end of the person's account, with seven days to come back. */
export function DeleteAccountCard(): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const router = useRouter();
  const remove = useMutation({
    mutationFn: (password: string) => callOwn('deleteAccount', { body: { password } }),
    async onSuccess() {
      queryClient.clear();
      await router.navigate({ to: '/sign-in' });
      toastDone('Your account is gone in 7 days. Sign in until then to come back.');
    },
  });
  const close = (): void => {
    setAsking(false);
    remove.reset();
  };
  return (
    <Card
      title="Delete your account"
      lead="You are signed out everywhere, and in 7 days the account is gone. Forms and submissions belong to their workspaces and stay; the API keys that you made end with it."
    >
      <div className="row">
        <Button variant="danger" onPress={() => setAsking(true)}>
          Delete account
        </Button>
      </div>
      {isAsking && (
        <PasswordDialog
          title="Delete your account?"
          description="Signing in within 7 days brings it back. A workspace that you alone own has to be handed over or deleted first."
          submitLabel="Delete my account"
          isDanger
          asked={remove}
          onClose={close}
        />
      )}
    </Card>
  );
}
