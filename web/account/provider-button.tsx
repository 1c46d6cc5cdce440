import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import { readNext } from './next.ts';

export const waysQuery = queryOptions({ queryKey: ['ways-in'], queryFn: () => callOwn('readWaysIn', {}) });

/** Where to go on when the provider has sent the browser back. */
const nextKey = 'formloom.next';
export const takeNext = (): string => {
  const next = readNext(sessionStorage.getItem(nextKey));
  sessionStorage.removeItem(nextKey);
  return next;
};

/** Leads to the provider of identities; nothing where there is none. */
export function ProviderButton(): ReactElement | null {
  const { data } = useQuery(waysQuery);
  const search: { next?: unknown } = useSearch({ strict: false });
  const ask = useMutation({
    mutationFn: () => callOwn('askProvider', {}),
    onSuccess({ url }) {
      sessionStorage.setItem(nextKey, readNext(search.next));
      location.assign(url);
    },
  });
  if (!data?.provider) return null;
  return (
    <div className="stack-tight">
      {ask.error && <Message tone="bad">{ask.error.message}</Message>}
      <Button icon="people" isPending={ask.isPending || ask.isSuccess} onPress={() => ask.mutate()}>
        Continue with {data.provider}
      </Button>
    </div>
  );
}
