import { queryOptions } from '@tanstack/react-query';
import type { MemberInvitations } from '#console/accounts/shapes.ts';
import { get } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';

export const memberInvitationsPath = (workspace: string): string =>
  `/workspaces/${workspace}/member-invitations`;

/** Whom the workspace's admins have asked to join and who has not answered yet. */
export const memberInvitationsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['member-invitations', workspace],
    queryFn: () => get<MemberInvitations>(memberInvitationsPath(workspace)),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ mail_state }) => mail_state === 'queued') ? 3_000 : false,
  });

export const refreshInvitations = (workspace: string): Promise<void> =>
  queryClient.invalidateQueries(memberInvitationsQuery(workspace));
