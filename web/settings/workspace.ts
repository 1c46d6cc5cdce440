import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Role, Workspace } from '#workspaces/shapes.ts';
import { callOperation, operationQuery } from '../api/operations.ts';

/** Returns the workspace ID from the URL. */
const useWorkspaceId = (): string => useParams({ strict: false }).workspace!;

/** A workspace with the role of the signed-in person. */
export type WorkspaceDetail = Omit<Workspace, 'role'> & { role: Role };

export const workspaceQuery = (id: string) =>
  queryOptions({
    ...operationQuery(id, 'getWorkspace', {}),
    // Only an API key has no role, and the console does not use API keys.
    select: (workspace): WorkspaceDetail => ({ ...workspace, role: workspace.role ?? 'viewer' }),
  });

/** Returns the workspace in the URL with the person's role. */
export const useWorkspace = (): WorkspaceDetail => useSuspenseQuery(workspaceQuery(useWorkspaceId())).data;

export const membersQuery = (id: string) =>
  queryOptions({ ...operationQuery(id, 'listMembers', {}), select: ({ data }) => data });

export const keysQuery = (id: string) =>
  queryOptions({ ...operationQuery(id, 'listKeys', {}), select: ({ data }) => data });

/** Recent requests of a key, newest first. Never cached, because they change constantly. */
export const keyRequestsQuery = (id: string, key: string) =>
  queryOptions({
    ...operationQuery(id, 'listKeyRequests', { params: { id: key } }),
    select: ({ data }) => data,
    staleTime: 0,
  });

/** The maximum number of forms that a key can be limited to. */
export const mostFormNames = 1_000;

/** Names of all forms, sorted, at most 1,000. Never cached: a missing form counts as deleted. */
export const formNamesQuery = (id: string) =>
  queryOptions({
    queryKey: ['listFormActivity', id, 'names'],
    queryFn: () => readFormNames(id),
    staleTime: 0,
  });

async function readFormNames(id: string): Promise<{ id: string; name: string }[]> {
  const forms: { id: string; name: string }[] = [];
  for (let page = 1; forms.length < mostFormNames; page += 1) {
    const { data } = await callOperation(id, 'listFormActivity', {
      query: { sort: 'name', page, per_page: 100 },
    });
    forms.push(...data);
    if (data.length < 100) break;
  }
  return forms;
}

export const stagesQuery = (id: string) =>
  queryOptions({ ...operationQuery(id, 'listStages', {}), staleTime: 60_000 });
