import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { MailLog, MailState, MailStatus } from '#console/mail/shapes.ts';
import { get, query } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';

export const mailsOfPage = 25;
/** While something is on its way, the log is looked at so often. */
const lookAgainMs = 3_000;

export const mailStatusQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['mail', workspace, 'status'],
    queryFn: () => get<MailStatus>(`/workspaces/${workspace}/mail`),
    refetchInterval: ({ state }) => ((state.data?.counts.queued ?? 0) > 0 ? lookAgainMs : false),
  });

export const mailLogQuery = (workspace: string, view: { state: MailState | undefined; page: number }) =>
  queryOptions({
    queryKey: ['mail', workspace, 'log', view],
    queryFn: () => get<MailLog>(`/workspaces/${workspace}/mails${query({ ...view, per_page: mailsOfPage })}`),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.some((mail) => mail.state === 'queued') ? lookAgainMs : false,
  });

export const refreshMail = (workspace: string): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: ['mail', workspace] });
