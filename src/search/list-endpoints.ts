import { type Static, Type } from 'typebox';
import type { FileLinks } from '#files/stored-files.ts';
import type { Database } from '#kit/database.ts';
import { jsonList } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { type Cut, endCut, listOf, listParameters, readCut } from '#kit/pagination.ts';
import { closed } from '#kit/validation.ts';
import { Submission, submissionTexts } from '#submissions/present.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { formFilterParameters, formsFilterParameters } from './filter/read-filter.ts';
import { readSubmissions } from './read-submissions.ts';
import { readFormsView, readListView, type View } from './view.ts';

/** A page of submissions, in lists and in the search. */
export const submissionPage = listOf(Submission);

const sortParameter = {
  sort: Type.Optional(
    Type.Enum(['newest', 'oldest'], {
      default: 'newest',
      description: 'Sorts by the time when submissions were started.',
    }),
  ),
};

/** Lists of submissions. Specification, "Submissions". */
export function listEndpoints({ database, links }: { database: Database; links: FileLinks }) {
  return {
    listFormSubmissions: operation({
      summary: 'List submissions of a form',
      description: 'Returns submissions newest first, unless `sort` says otherwise. All filters must match.',
      permission: 'submissions:read',
      params: idParameter,
      query: Type.Object({ ...listParameters, ...formFilterParameters, ...sortParameter }, closed),
      reply: { status: 200, description: 'A page of submissions.', schema: submissionPage },
      async run({ workspaceId, formIds, params: { id }, query }) {
        requireReach(formIds, id);
        const cut = readCut(query, 'submissions', id);
        const { sort = 'newest' } = query;
        return answer(await readListView(database, { workspaceId, formId: id }, query, sort), cut);
      },
    }),

    listSubmissions: operation({
      summary: 'List submissions',
      description:
        'Returns submissions of all accessible forms, newest first unless `sort` says otherwise. All filters must match.',
      permission: 'submissions:read',
      query: Type.Object({ ...listParameters, ...formsFilterParameters, ...sortParameter }, closed),
      reply: { status: 200, description: 'A page of submissions.', schema: submissionPage },
      async run({ workspaceId, formIds, query }) {
        const cut = readCut(query, 'submissions');
        const { sort = 'newest' } = query;
        return answer(await readFormsView(database, { workspaceId, formIds }, query, sort), cut);
      },
    }),
  };

  async function answer(view: View, cut: Cut) {
    const { rows: found, total } = await readSubmissions(database, view, cut);
    const { rows, ends } = endCut(cut, found, total);
    const page = await submissionTexts(rows, links);
    return { json: jsonList<Static<typeof submissionPage>>(page, ends) };
  }
}
