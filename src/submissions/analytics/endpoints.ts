import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { readDays } from '#kit/time-range.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { readAnalytics } from './read-analytics.ts';
import { Analytics, AnalyticsQuery } from './shapes.ts';

/** How the visits of a form went. */
export const analyticsEndpoints = ({ database }: { database: Database }) => ({
  getFormAnalytics: operation({
    summary: 'Get analytics of a form',
    description:
      'How many saw the page, began to answer and sent it, and where the others left. These are sums: no visit is kept, and those that ask not to be tracked, machines and previews are not counted. Counts are at most a second or two old; a crash may lose as much.',
    permission: 'submissions:read',
    params: idParameter,
    query: AnalyticsQuery,
    example: { query: { created_from: '2026-01-01T00:00:00.000Z', created_to: '2027-01-01T00:00:00.000Z' } },
    reply: { status: 200, description: 'The analytics.', schema: Analytics },
    async run({ workspaceId, formIds, params, query }) {
      requireReach(formIds, params.id);
      return { body: await readAnalytics(database, { workspaceId, formId: params.id }, readDays(query)) };
    },
  }),
});
