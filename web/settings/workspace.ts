import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Role, Workspace } from '#workspaces/shapes.ts';
import { call, readQuery } from '../api/operations.ts';

/** The id in the address, on a workspace's screens. */
const useWorkspaceId = (): string => useParams({ strict: false }).workspace!;

/** A workspace, and what the person who is signed in is in it. */
export type WorkspaceDetail = Omit<Workspace, 'role'> & { role: Role };

export const workspaceQuery = (id: string) =>
  queryOptions({
    ...readQuery(id, 'getWorkspace', {}),
    // Only a key is none of the members.
    select: (workspace): WorkspaceDetail => ({ ...workspace, role: workspace.role ?? 'viewer' }),
  });

/** The workspace of the address, with the person's role in it. */
export const useWorkspace = (): WorkspaceDetail => useSuspenseQuery(workspaceQuery(useWorkspaceId())).data;

export const membersQuery = (id: string) =>
  queryOptions({ ...readQuery(id, 'listMembers', {}), select: ({ data }) => data });

export const keysQuery = (id: string) =>
  queryOptions({ ...readQuery(id, 'listKeys', {}), select: ({ data }) => data });

/** What a key did lately, the newest first. Looked at again each time: it grows while one looks. */
export const keyRequestsQuery = (id: string, key: string) =>
  queryOptions({
    ...readQuery(id, 'listKeyRequests', { params: { id: key } }),
    select: ({ data }) => data,
    staleTime: 0,
  });

/** As many forms as a key can be limited to. */
export const mostFormNames = 1_000;

/** The names of all forms, in their order; a thousand at most. Read anew each time: what is missing is gone. */
export const formNamesQuery = (id: string) =>
  queryOptions({
    queryKey: ['listFormActivity', id, 'names'],
    queryFn: () => readFormNames(id),
    staleTime: 0,
  });

async function readFormNames(id: string): Promise<{ id: string; name: string }[]> {
  const forms: { id: string; name: string }[] = [];
  for (let page = 1; forms.length < mostFormNames; page += 1) {
    const { data } = await call(id, 'listFormActivity', {
      query: { sort: 'name', page, per_page: 100 },
    });
    forms.push(...data);
    if (data.length < 100) break;
  }
  return forms;
}
