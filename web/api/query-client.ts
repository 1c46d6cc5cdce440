import { MutationCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem, isStale } from './client.ts';

/** What is worth asking again: a lost connection, a service that is starting. What was refused stays refused. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === 0 || error.status >= 500);

/** What was fetched, kept for all screens. */
export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    // What somebody else has changed meanwhile is on the screen as it was before.
    onError: (error) => (isStale(error) ? queryClient.invalidateQueries() : undefined),
  }),
  defaultOptions: {
    // Without a line it is asked all the same: what fails is said, and what waits in silence is not.
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 10_000,
      retry: (failures, error) => mayPass(error) && failures < 2,
      retryDelay: (attempt) => 500 * 2 ** attempt,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});
