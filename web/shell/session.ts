import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { type RegisteredRouter, useParams } from '@tanstack/react-router';
import { formLimits } from '#ast/basics/limits.ts';
import type { FileLimits } from '#page/render/elements/element-context.ts';
import type { LocatedForm } from '#search/table-arrangement.ts';
import type { Role } from '#workspaces/shapes.ts';
import type { Session } from '#workspaces/sign-in/session-shapes.ts';
import { refetchChangedQueries } from '../api/changes.ts';
import { ApiProblem } from '../api/client.ts';
import { sessionOperationQuery } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';

/** Queries the signed-in person and their workspaces, sorted by name. */
export const sessionQuery = queryOptions({ ...sessionOperationQuery('getSession', {}), staleTime: 60_000 });

/** Returns the session. Only for screens that require signing in. */
export const useSession = (): Session => useSuspenseQuery(sessionQuery).data;

/** Returns the limits of a file element on public pages, as on the server (docs/rules.md 13). */
export const getFileLimits = (): FileLimits => ({
  fileBytes: queryClient.getQueryData(sessionQuery.queryKey)?.max_file_bytes ?? 10 * 1024 * 1024,
  filesPerElement: formLimits.files,
});

/** Refreshes the session after the person, a workspace name or a membership changed elsewhere. */
export const refreshSession = (): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });

export const mayEdit = (role: Role): boolean => role !== 'viewer';
export const mayAdminister = (role: Role): boolean => role === 'owner' || role === 'admin';

const lastKey = 'formloom.workspace';

/** Returns the workspace last opened in this browser if the person is still a member, otherwise the first. */
export function lastWorkspace({ workspaces }: Session): Session['workspaces'][number] | undefined {
  const last = localStorage.getItem(lastKey);
  return workspaces.find(({ id }) => id === last) ?? workspaces[0];
}

/** Returns the workspace in the URL; on account screens, the one opened last. */
export function useCurrentWorkspace(): Session['workspaces'][number] | undefined {
  const session = useSession();
  const { workspace: id } = useParams({ strict: false });
  return session.workspaces.find((workspace) => workspace.id === id) ?? lastWorkspace(session);
}

export const rememberWorkspace = (id: string): void => localStorage.setItem(lastKey, id);

/**
 * Opens the sign-in page when a session ends while a screen is open. After signing in, the person returns to
 * that screen.
 */
export function redirectWhenSignedOut(router: RegisteredRouter): void {
  const handleError = (error: Error | null): void => {
    if (!(error instanceof ApiProblem) || error.status !== 401) return;
    // On these screens, 401 means that the sign-in failed.
    if (/\/(sign-in|signed-in)$/.test(router.state.location.pathname)) return;
    const next = router.state.location.href;
    queryClient.clear();
    void router.navigate({ to: '/sign-in', search: { next } });
  };
  queryClient.getQueryCache().subscribe(({ query }) => handleError(query.state.error));
  queryClient.getMutationCache().subscribe(({ mutation }) => {
    // A failed sign-in attempt does not mean that the session has ended.
    if (mutation?.meta?.['isSignIn'] !== true) handleError(mutation?.state.error ?? null);
  });
}

export type { LocatedForm };

/** Loads a form by its ID, with the data that its screens share. */
export const formQuery = (id: string) =>
  queryOptions(sessionOperationQuery('locateForm', { params: { id } }));

/** Returns the form in the URL. It is loaded before the screens render. */
export function useCurrentForm(): LocatedForm {
  const { form } = useParams({ strict: false });
  return useSuspenseQuery(formQuery(form)).data;
}

/** Refreshes a form after the builder changed its name or status. */
export async function refreshForm(id: string): Promise<void> {
  await Promise.all([queryClient.invalidateQueries(formQuery(id)), refetchChangedQueries('publishForm')]);
}
