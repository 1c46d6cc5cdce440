import { type Static, Type } from 'typebox';
import type { FileLinks } from '#files/stored-files.ts';
import type { Database } from '#kit/database.ts';
import { jsonList } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { type Cut, endCut, listOf, listParameters, readCut } from '#kit/pagination.ts';
import { requireRow } from '#kit/statement.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { readViewedForm } from './columns/read-columns.ts';
import {
  formFilterParameters,
  formsFilterParameters,
  isPlain,
  readFormFilter,
  readFormsFilter,
} from './filter/read-filter.ts';
import { type Part, readFiltered, readPlainPage, sorts } from './list.ts';
import { Submission, submissionJson, submissionTag, submissionTexts } from './present.ts';
import { findSubmission } from './submit-endpoint.ts';

/** The page of a list of submissions, also used by search. */
export const submissionPage = listOf(Submission);

const closed = { additionalProperties: false } as const;
const sortParameter = {
  sort: Type.Optional(
    Type.Enum([...sorts], {
      default: 'newest',
      description: 'Sorts by the time when submissions were started.',
    }),
  ),
};

/** Reads submissions. Specification, "Submissions". */
export function submissionEndpoints({ database, links }: { database: Database; links: FileLinks }) {
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
        const filter = await readFormFilter(database, { workspaceId, formId: id }, query);
        const { sort = 'newest' } = query;
        const part =
          isPlain(filter) && sort === 'newest' && cut.total === undefined
            ? await readPlainPage(database, { workspace_id: workspaceId, form_id: id }, filter, cut)
            : await readFormPart({ workspaceId, formId: id }, { filter, sort, cut });
        return answer(part, cut);
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
        const forms = { workspace_id: workspaceId, form_ids: formIds && [...formIds] };
        const asked = await readFormsFilter(database, { workspaceId, formIds }, query);
        const { sort = 'newest' } = query;
        return answer(await readFiltered(database, forms, { ...asked, sort, cut }), cut);
      },
    }),

    getSubmission: operation({
      summary: 'Get submission',
      description: 'Returns a submission. Each request returns fresh links for its files.',
      permission: 'submissions:read',
      audit: 'entry by people',
      params: idParameter,
      query: Type.Object(
        { include: Type.Optional(Type.Enum(['tags'], { description: 'Additional data to include.' })) },
        { additionalProperties: false },
      ),
      reply: { status: 200, description: 'The submission.', schema: Submission },
      async run({ workspaceId, formIds, params, query: { include } }) {
        const row = requireRow(await findSubmission(database, { workspace_id: workspaceId, id: params.id }));
        requireReach(formIds, row.form_id);
        const more = include && { tags: row.tags };
        return { json: submissionJson(row, links, more), tag: submissionTag(row) };
      },
    }),
  };

  async function readFormPart(
    form: { workspaceId: string; formId: string },
    asked: Parameters<typeof readFiltered>[2],
  ) {
    await readViewedForm(database, form);
    return readFiltered(database, { workspace_id: form.workspaceId, form_ids: [form.formId] }, asked);
  }

  async function answer({ found, total }: Part, cut: Cut) {
    const { rows, ends } = endCut(cut, found, total);
    const page = await submissionTexts(rows, links);
    return { json: jsonList<Static<typeof submissionPage>>(page, ends) };
  }
}
