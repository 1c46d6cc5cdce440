import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';

/** Whom the workspace's admins have asked to join and who has not answered yet. */
export const memberInvitationsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['member-invitations', workspace],
    queryFn: () => call(workspace, 'listMemberInvitations', {}),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ mail_state }) => mail_state === 'queued') ? 3_000 : false,
  });

export const refreshInvitations = (workspace: string): Promise<void> =>
  queryClient.invalidateQueries(memberInvitationsQuery(workspace));
