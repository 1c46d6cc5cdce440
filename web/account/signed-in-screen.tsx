import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { type ReactElement, useEffect } from 'react';
import { callOwn } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { Message } from '../design/message.tsx';
import { Loading } from '../design/states.tsx';
import { EntryCard } from './entry-card.tsx';
import { takeNext } from './provider-button.tsx';

/** Where the provider of identities sends the browser back to: its answer is handed over, once. */
export function SignedInScreen(): ReactElement {
  const router = useRouter();
  const answer = location.search;
  const { error, isSuccess } = useQuery({
    queryKey: ['signed-in', answer],
    queryFn: async () => {
      await callOwn('signInByProvider', { body: { answer } });
      return true;
    },
    retry: false,
    staleTime: Infinity,
  });
  useEffect(() => {
    if (!isSuccess) return;
    queryClient.clear();
    void router.navigate({ to: takeNext(), replace: true });
  }, [isSuccess, router]);
  return (
    <EntryCard title={error ? 'You are not signed in' : 'One moment'}>
      {error ? <Message tone="bad">{error.message}</Message> : <Loading label="Signing you in …" />}
      {error && <Link to="/sign-in">Back to the sign-in</Link>}
    </EntryCard>
  );
}
