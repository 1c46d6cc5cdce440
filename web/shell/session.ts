import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { type RegisteredRouter, useParams } from '@tanstack/react-router';
import type { Role } from '#workspaces/shapes.ts';
import type { Session } from '#workspaces/sign-in/session-shapes.ts';
import { ApiProblem } from '../api/client.ts';
import { readSessionQuery } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';

/** Who is signed in, and their workspaces by name. */
export const sessionQuery = queryOptions({
  ...readSessionQuery('getSession', {}),
  staleTime: 60_000,
});

/** The session, on screens behind the sign-in. */
export const useSession = (): Session => useSuspenseQuery(sessionQuery).data;

/** After a change of the person, of a workspace's name, or of memberships that was made elsewhere. */
export const refreshSession = (): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });

export const mayEdit = (role: Role): boolean => role !== 'viewer';
export const mayAdminister = (role: Role): boolean => role === 'owner' || role === 'admin';

const lastKey = 'formloom.workspace';

/** The workspace that was open last in this browser, while the person is still a member of it; else the first. */
export function lastWorkspace({ workspaces }: Session): Session['workspaces'][number] | undefined {
  const last = localStorage.getItem(lastKey);
  return workspaces.find(({ id }) => id === last) ?? workspaces[0];
}

/** The workspace of the address; on the person's own screens, the one that was open last. */
export function useCurrentWorkspace(): Session['workspaces'][number] | undefined {
  const session = useSession();
  const { workspace: id } = useParams({ strict: false });
  return session.workspaces.find((workspace) => workspace.id === id) ?? lastWorkspace(session);
}

export const rememberWorkspace = (id: string): void => localStorage.setItem(lastKey, id);

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
