import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import { hasPasskeys, showPasskey } from './second-factor/web-authn.ts';
import { useGoOn } from './use-go-on.ts';

/** Signs in by a passkey, which the browser asks for; nothing where it knows of none. */
export function PasskeyButton(): ReactElement | null {
  const goOn = useGoOn();
  const enter = useMutation({
    mutationFn: async () =>
      callOwn('signInByPasskey', { body: await showPasskey(await callOwn('askForPasskey', {})) }),
    meta: { isSignIn: true },
    onSuccess: goOn,
  });
  if (!hasPasskeys()) return null;
  return (
    <div className="stack-tight">
      {enter.error && <Message tone="bad">{enter.error.message}</Message>}
      <Button icon="key" isPending={enter.isPending} onPress={() => enter.mutate()}>
        Use a passkey
      </Button>
    </div>
  );
}
