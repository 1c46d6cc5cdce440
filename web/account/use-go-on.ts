import { useRouter, useSearch } from '@tanstack/react-router';
import { queryClient } from '../api/query-client.ts';
import { readNext } from './next.ts';

/** Leads to where the person wanted to be, with everything read anew: they may see another amount of it now. */
export function useGoOn(): () => Promise<void> {
  const router = useRouter();
  const search: { next?: unknown } = useSearch({ strict: false });
  return async () => {
    queryClient.clear();
    await router.navigate({ to: readNext(search.next), replace: true });
  };
}
