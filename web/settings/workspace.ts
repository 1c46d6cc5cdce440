import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Key, Member, WorkspaceDetail } from '#console/accounts/shapes.ts';
import { get } from '../api/client.ts';

/** The id in the address, on a workspace's screens. */
export const useWorkspaceId = (): string => useParams({ strict: false }).workspace!;

export const workspaceQuery = (id: string) =>
  queryOptions({ queryKey: ['workspace', id], queryFn: () => get<WorkspaceDetail>(`/workspaces/${id}`) });

/** The workspace of the address, with the person's role in it. */
export const useWorkspace = (): WorkspaceDetail => useSuspenseQuery(workspaceQuery(useWorkspaceId())).data;

export const membersQuery = (id: string) =>
  queryOptions({
    queryKey: ['members', id],
    queryFn: () => get<{ data: Member[] }>(`/workspaces/${id}/members`),
    select: ({ data }) => data,
  });

export const keysQuery = (id: string) =>
  queryOptions({
    queryKey: ['keys', id],
    queryFn: () => get<{ data: Key[] }>(`/workspaces/${id}/keys`),
    select: ({ data }) => data,
  });
