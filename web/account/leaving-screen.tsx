import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import { sayMoment } from '../design/time.tsx';
import { useSession } from '../shell/session.ts';
import { EntryCard } from './entry-card.tsx';
import { SignOutButton } from './sign-out-button.tsx';
import { useGoOn } from './use-go-on.ts';

/** Whoever signs in while their account is being deleted comes back here, or leaves it at that. */
export function LeavingScreen(): ReactElement {
  const { user } = useSession();
  const goOn = useGoOn();
  const comeBack = useMutation({ mutationFn: () => callOwn('bringBackAccount', {}), onSuccess: goOn });
  return (
    <EntryCard title="Your account is being deleted">
      <p className="soft">
        {user.email} is gone for good
        {user.ends_at !== null && <> on {sayMoment(user.ends_at)}</>}. Until then you can come back, and find
        everything as it was.
      </p>
      {comeBack.error && <Message tone="bad">{comeBack.error.message}</Message>}
      <Button variant="primary" isPending={comeBack.isPending} onPress={() => comeBack.mutate()}>
        Keep my account
      </Button>
      <SignOutButton />
    </EntryCard>
  );
}
