import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { MailState } from '#mail/shapes.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';

const mailsOfPage = 25;
/** While something is on its way, the log is looked at so often. */
const lookAgainMs = 3_000;

export const mailStatusQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['mail', workspace, 'status'],
    queryFn: () => call(workspace, 'getMailStatus', {}),
    refetchInterval: ({ state }) => ((state.data?.counts.queued ?? 0) > 0 ? lookAgainMs : false),
  });

export const mailLogQuery = (workspace: string, view: { state: MailState | undefined; page: number }) =>
  queryOptions({
    queryKey: ['mail', workspace, 'log', view],
    queryFn: () => call(workspace, 'listMails', { query: { ...view, per_page: mailsOfPage } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.some((mail) => mail.state === 'queued') ? lookAgainMs : false,
  });

export const refreshMail = (workspace: string): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: ['mail', workspace] });
