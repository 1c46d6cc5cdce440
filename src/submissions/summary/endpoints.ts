import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireReach } from '#workspaces/reach.ts';
import { readViewedForm } from '../columns/read-columns.ts';
import { readFilter } from '../filter/read-filter.ts';
import { Summary, SummaryQuery } from '../shapes.ts';
import { readSummary } from './read-summary.ts';

/** What a form's submissions say together. */
export const summaryEndpoints = ({ database }: { database: Database }) => ({
  getFormSummary: operation({
    summary: 'Get summary of a form',
    description:
      'How many submissions a day, how many were completed, and the answers to each question, added up.',
    permission: 'submissions:read',
    params: idParameter,
    query: SummaryQuery,
    example: { query: { time_zone: 'Europe/Berlin' } },
    reply: { status: 200, description: 'The summary.', schema: Summary },
    async run({ workspaceId, formIds, params, query }) {
      requireReach(formIds, params.id);
      const { time_zone: timeZone = 'UTC', sample = 'newest', language, ...days } = query;
      // An offset like +02:00 means the opposite to PostgreSQL and to JavaScript.
      if (!/^[A-Za-z][\w+/-]*$/.test(timeZone))
        throw new ApiError('bad_request', '"time_zone" must be a time zone like Europe/Berlin.');
      const { version } = await readViewedForm(database, { workspaceId, formId: params.id });
      const { from_id, to_id } = readFilter(days);
      const span = { workspace_id: workspaceId, form_id: params.id, from_id, to_id };
      return { body: await readSummary(database, span, { timeZone, sample, language, version }) };
    },
  }),
});
