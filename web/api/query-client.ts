import { MutationCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem, isConcurrentChangeError } from './client.ts';

/**
 * Whether a retry can help: after a lost connection or while the service starts. Refused requests stay
 * refused.
 */
export const canRetry = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === 0 || error.status >= 500);

/** The query cache of all screens. */
export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    // Another person changed the thing, so the screen shows an old state.
    onError: (error) => (isConcurrentChangeError(error) ? queryClient.invalidateQueries() : undefined),
  }),
  defaultOptions: {
    // Sends requests even when the browser reports no connection: a failure is shown to the user, a paused
    // query is not.
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 10_000,
      retry: (failures, error) => canRetry(error) && failures < 2,
      retryDelay: (attempt) => 500 * 2 ** attempt,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

/**
 * Keeps the previous rows while the next query loads, so that the page does not jump. An empty result is not
 * kept, because the next one may have rows.
 */
export const keepPreviousRows = <Rows extends { readonly pagination: { readonly total_count: number } }>(
  before: Rows | undefined,
): Rows | undefined => (before && before.pagination.total_count > 0 ? before : undefined);
