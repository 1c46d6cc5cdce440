import type { RegisteredRouter } from '@tanstack/react-router';
import { ApiProblem } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';

/** A session may end while a screen is open: whatever hears of it leads to the sign-in, and from there back. */
export function leadToSignIn(router: RegisteredRouter): void {
  const hear = (error: Error | null): void => {
    if (!(error instanceof ApiProblem) || error.status !== 401) return;
    // There a 401 says that one was not let in.
    if (/\/(sign-in|signed-in)$/.test(router.state.location.pathname)) return;
    const next = router.state.location.href;
    queryClient.clear();
    void router.navigate({ to: '/sign-in', search: { next } });
  };
  queryClient.getQueryCache().subscribe(({ query }) => hear(query.state.error));
  queryClient.getMutationCache().subscribe(({ mutation }) => {
    // That of a try to show who one is says nothing of the session.
    if (mutation?.meta?.['isSignIn'] !== true) hear(mutation?.state.error ?? null);
  });
}
