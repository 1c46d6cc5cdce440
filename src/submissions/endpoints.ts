import { Type } from 'typebox';
import type { FileLinks } from '#files/link.ts';
import type { Database } from '#kit/database.ts';
import { endCut, listOf, listParameters, readCut } from '#kit/cursor.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { ApiError } from '#kit/errors.ts';
import { pageText } from '#kit/pagination.ts';
import { requireReach } from '#workspaces/reach.ts';
import { readList } from './list/read-list.ts';
import { Submission, submissionJson } from './present.ts';
import { findSubmission, submissionStatuses } from './queries.ts';

/** What a list of submissions answers, here and in search. */
export const submissionPage = listOf(Submission);

/** Reading submissions. Specification, "Submissions". */
export function submissionEndpoints({ database, links }: { database: Database; links: FileLinks }) {
  return {
    listOfForm: operation({
      summary: 'List submissions of a form',
      description: 'Newest first.',
      permission: 'submissions:read',
      params: idParameter,
      query: Type.Object(
        { ...listParameters, status: Type.Optional(Type.Enum([...submissionStatuses])) },
        { additionalProperties: false },
      ),
      reply: { status: 200, description: 'A page of submissions.', schema: submissionPage },
      async run({ workspaceId, formIds, params, query }) {
        requireReach(formIds, params.id);
        const cut = readCut(query, 'submissions', params.id);
        const form = { workspace_id: workspaceId, form_id: params.id, status: query.status ?? null };
        const { found, total } = await readList(database, form, cut);
        const { rows, ends } = endCut(cut, found, total);
        return {
          json: pageText(
            rows.map((row) => submissionJson(row, links)),
            ends,
          ),
        };
      },
    }),

    get: operation({
      summary: 'Get submission',
      description: 'Reading it again gives fresh links for its files.',
      permission: 'submissions:read',
      params: idParameter,
      reply: { status: 200, description: 'The submission.', schema: Submission },
      async run({ workspaceId, formIds, params }) {
        const [row] = await findSubmission(database, { workspace_id: workspaceId, id: params.id });
        if (!row) throw new ApiError('not_found');
        requireReach(formIds, row.form_id!);
        return { json: submissionJson(row, links) };
      },
    }),
  };
}
