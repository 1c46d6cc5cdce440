import { type Static, Type } from 'typebox';
import type { FileLinks } from '#files/stored-files.ts';
import type { Database } from '#kit/database.ts';
import { markJsonList } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import {
  finishPage,
  listParameters,
  listSchemaOf,
  type PageRequest,
  readPageRequest,
} from '#kit/pagination.ts';
import { strictObject } from '#kit/validation.ts';
import { formatSubmissions, Submission } from '#submissions/present.ts';
import { formFilterParameters, formsFilterParameters } from './filter/read-filter.ts';
import { readSubmissions } from './read-submissions.ts';
import { readFormsView, readListView, type View } from './view.ts';

/** A page of submissions, in lists and in the search. */
export const submissionPageSchema = listSchemaOf(Submission);

const sortParameter = {
  sort: Type.Optional(
    Type.Enum(['newest', 'oldest'], {
      default: 'newest',
      description: 'Sorts by the time when submissions were started.',
    }),
  ),
};

/** Operations that list submissions. Specification, "Submissions". */
export function submissionListEndpoints({ database, links }: { database: Database; links: FileLinks }) {
  return {
    listFormSubmissions: operation({
      summary: 'List submissions of a form',
      description: 'Returns submissions newest first, unless `sort` says otherwise. All filters must match.',
      permission: 'submissions:read',
      params: idParameter,
      query: strictObject({ ...listParameters, ...formFilterParameters, ...sortParameter }),
      reply: { status: 200, description: 'A page of submissions.', schema: submissionPageSchema },
      async run({ workspaceId, params: { id }, query }) {
        const cut = readPageRequest(query, 'submissions', id);
        const { sort = 'newest' } = query;
        return answer(await readListView(database, { workspaceId, formId: id }, query, sort), cut);
      },
    }),

    listSubmissions: operation({
      summary: 'List submissions',
      description:
        'Returns submissions of all accessible forms, newest first unless `sort` says otherwise. All filters must match.',
      permission: 'submissions:read',
      query: strictObject({ ...listParameters, ...formsFilterParameters, ...sortParameter }),
      reply: { status: 200, description: 'A page of submissions.', schema: submissionPageSchema },
      async run({ workspaceId, formIds, query }) {
        const cut = readPageRequest(query, 'submissions');
        const { sort = 'newest' } = query;
        return answer(await readFormsView(database, { workspaceId, formIds }, query, sort), cut);
      },
    }),
  };

  async function answer(view: View, cut: PageRequest) {
    const { rows: found, total } = await readSubmissions(database, view, cut);
    const { rows, ends } = finishPage(cut, found, total);
    const page = await formatSubmissions(rows, links);
    return { json: markJsonList<Static<typeof submissionPageSchema>>(page, ends) };
  }
}
