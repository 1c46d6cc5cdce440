import { type Static, Type } from 'typebox';
import type { FileLinks } from '#files/link.ts';
import type { Database } from '#kit/database.ts';
import { operation } from '#kit/operation.ts';
import { ApiError } from '#kit/errors.ts';
import { jsonList } from '#kit/wire.ts';
import { pageParameters, paginate, readPage } from '#kit/pagination.ts';
import { submissionPage } from '#submissions/endpoints.ts';
import { submissionTexts } from '#submissions/present.ts';
import { requireReach } from '#workspaces/reach.ts';
import { countMatches, formExists, searchSubmissions } from './queries.ts';
import { searchWindow } from './question.ts';

/** docs/rules.md 13: q is at most 1 KB of UTF-8. */
const queryBytes = 1024;

/** Full-text search. Specification, "Search rules"; docs/rules.md 11. */
export function searchEndpoints({ database, links }: { database: Database; links: FileLinks }) {
  return {
    search: operation({
      summary: 'Search submissions',
      description: `Across the workspace or one form, by relevance. Every word must be present, in any of its forms; words in the subject count most; equals come newest first. Any text is a valid question. The first ${searchWindow} can be paged through: \`total_count\` is exact below ${searchWindow}, and ${searchWindow} means that many or more.`,
      permission: 'submissions:read',
      example: { query: { q: 'stuck shuttle' } },
      query: Type.Object(
        {
          q: Type.String({ description: 'The words to look for.' }),
          form_id: Type.Optional(Type.String({ format: 'uuid', description: 'Search in this form only.' })),
          ...pageParameters,
        },
        { additionalProperties: false },
      ),
      reply: {
        status: 200,
        description: 'A page of submissions, ordered by relevance.',
        schema: submissionPage,
      },
      async run({ workspaceId, formIds, query }) {
        refuseUnsearchable(query.q);
        if (query.form_id !== undefined) {
          requireReach(formIds, query.form_id);
          const [form] = await formExists(database, { workspace_id: workspaceId, id: query.form_id });
          if (!form!.found) throw new ApiError('not_found');
        }
        const page = readPage(query);
        const question = {
          workspace_id: workspaceId,
          form_id: query.form_id ?? null,
          form_ids: formIds && [...formIds],
          q: query.q,
        };
        const limit = Math.min(page.perPage, searchWindow - page.offset);
        const rows =
          limit > 0 ? await searchSubmissions(database, { ...question, limit, offset: page.offset }) : [];
        // A page past the end has no row that carries the total.
        const total =
          rows[0]?.total ?? (page.offset > 0 ? (await countMatches(database, question))[0]!.total : 0);
        const found = await submissionTexts(rows, links);
        return {
          json: jsonList<Static<typeof submissionPage>>(found, { pagination: paginate(page, total) }),
        };
      },
    }),
  };
}

/** @throws ApiError bad_request for a question that is empty, too long or cannot be text in PostgreSQL. */
export function refuseUnsearchable(q: string): void {
  const problem =
    q.trim() === ''
      ? '"q" must not be empty.'
      : Buffer.byteLength(q) > queryBytes
        ? `"q" must be at most ${queryBytes} bytes long.`
        : q.includes('\u0000') || !q.isWellFormed()
          ? '"q" holds a NUL character or half a surrogate pair.'
          : undefined;
  if (problem) throw new ApiError('bad_request', problem, { errors: [{ field: 'q', message: problem }] });
}
