import { Type } from 'typebox';
import type { FileLinks } from '#files/link.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { ApiError } from '#kit/errors.ts';
import { pageParameters, pageText, paginate, Pagination, readPage } from '#kit/pagination.ts';
import { requireReach } from '#workspaces/reach.ts';
import { Submission, submissionJson } from './present.ts';
import { findSubmission, listSubmissions, listSubmissionsByStatus, submissionStatuses } from './queries.ts';

/** What a list of submissions answers, here and in search. */
export const submissionPage = Type.Object({ data: Type.Array(Submission), pagination: Pagination });

/** Reading submissions. Specification, "Submissions". */
export function submissionEndpoints({ database, links }: { database: Database; links: FileLinks }) {
  return {
    listOfForm: operation({
      summary: 'List submissions of a form',
      description: 'Newest first.',
      permission: 'submissions:read',
      params: idParameter,
      query: Type.Object(
        { ...pageParameters, status: Type.Optional(Type.Enum([...submissionStatuses])) },
        { additionalProperties: false },
      ),
      reply: { status: 200, description: 'A page of submissions.', schema: submissionPage },
      async run({ workspaceId, formIds, params, query }) {
        requireReach(formIds, params.id);
        const page = readPage(query);
        const list = query.status ? listSubmissionsByStatus : listSubmissions;
        const rows = await list(database, {
          workspace_id: workspaceId,
          form_id: params.id,
          status: query.status ?? null,
          limit: page.perPage,
          offset: page.offset,
        });
        if (rows.length === 0) throw new ApiError('not_found');
        const found = rows.filter((row) => row.id !== null).map((row) => submissionJson(row, links));
        return { json: pageText(found, paginate(page, rows[0]!.total)) };
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
