import { Type } from 'typebox';
import type { Answers } from '#ast/answers/fill.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import type { FileLinks, FileServices } from '#files/stored-files.ts';
import { now, uuidPattern } from '#kit/clock.ts';
import { mapWithYields } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue, attachmentHeader, type JsonText, markJsonList, markJsonText } from '#kit/http.ts';
import { type Actor, idParameter, operation } from '#kit/operation.ts';
import { finishPageByPosition, listParameters, readPageRequestByPosition } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { boolean, onlyRow, requireRow, statement } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import { orderColumns } from '#rules/columns.ts';
import { listMembers } from '#submissions/changes/assign.ts';
import type { Column } from '#submissions/columns.ts';
import type { AssignmentNames } from '#submissions/export/cells.ts';
import { exportFormats, exportStream, exportTypes, startLimitedExport } from '#submissions/export/export.ts';
import { filesStream } from '#submissions/export/files.ts';
import { mapFiles } from '#submissions/present.ts';
import { readColumns, readViewedForm } from '#submissions/read-columns.ts';
import { languageParameter, SubmissionDetail, TablePage, type TableRow } from '#submissions/shapes.ts';
import { describeWait } from '#submissions/waiting-list.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import { readStages } from '#workspaces/stages.ts';
import type { CompiledSearch } from './compile-search.ts';
import { findHits, hitTermsOf, mostReadCharacters } from './find-hits.ts';
import {
  type FindOptionLabel,
  listSubmissionTexts,
  openOptionLabels,
  type ReadOptionLabels,
} from './hits.ts';
import { findTableSettings, findViewedSubmission } from './list-rows.ts';
import { encodeSortPosition, sortPositionPattern } from './read-sort.ts';
import { type FoundRow, planTableReads, readViewSubmissions } from './read-submissions.ts';
import { findSavedView } from './saved-views.ts';
import { readTableView, ViewQuery, viewParameters } from './view.ts';

/** A cursor that includes the keys by which its list is sorted. */
const longCursor = Type.Optional(Type.String({ ...listParameters.cursor, maxLength: 2_400 }));
const RowsQuery = strictObject({ ...viewParameters, ...listParameters, cursor: longCursor });

const ExportQuery = strictObject({
  ...viewParameters,
  language: languageParameter,
  format: Type.Optional(Type.Enum([...exportFormats], { description: 'Defaults to CSV.' })),
  for: Type.Optional(
    Type.Enum(['programs', 'spreadsheets'], {
      description:
        'What the CSV file is for. With `spreadsheets`, it starts with a byte order mark, and text that could be a formula is escaped.',
    }),
  ),
  columns: Type.Optional(
    Type.Enum(['all', 'shown'], {
      description:
        '`shown`: only the columns visible in your table, in your order; all columns if you have not arranged them.',
    }),
  ),
  view: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'With `columns=shown`: uses the columns of this saved view. Send its filter and order separately.',
    }),
  ),
});

const FilesQuery = strictObject({
  ...viewParameters,
  format: Type.Optional(Type.Enum(['zip'], { description: 'Defaults to `zip`.' })),
});

const hasAssignments = statement('workspace_id form_id', {
  has_assignments: boolean,
})`
  select exists (
    select from submissions
    where workspace_id = $workspace_id and form_id = $form_id and trashed_at is null
      and (stage_id is not null or assignee_id is not null)) as has_assignments`;

/** Returns the names for the columns of an export; undefined if no submission was moved or assigned. */
async function readAssignmentNames(
  database: Database,
  { workspaceId, formId }: { workspaceId: string; formId: string },
): Promise<AssignmentNames | undefined> {
  const [form] = await hasAssignments(database, { workspace_id: workspaceId, form_id: formId });
  if (!form!.has_assignments) return undefined;
  const [stages, members] = await Promise.all([
    readStages(database, workspaceId),
    listMembers(database, { workspace_id: workspaceId }),
  ]);
  const byId = (named: readonly { id: string; name: string }[]) =>
    new Map(named.map(({ id, name }) => [id, name]));
  return { stages: byId(stages), members: byId(members) };
}

/** The JSON of a submission's answers and reference values, as text. */
type Texts = { answers: string; reference: string };

/**
 * Finds the words of each submission that match the search, so that the console can highlight them. Empty
 * without a search.
 */
async function findRowHits(
  { database, optionLabels }: { database: Database; optionLabels: ReadOptionLabels },
  index: CompiledSearch['index'] | undefined,
  form: { workspaceId: string; formId: string; version: number; language: string },
  rows: readonly Texts[],
): Promise<string[][]> {
  if (index === undefined || rows.length === 0) return rows.map(() => []);
  const labels = await optionLabels(form.workspaceId, [{ id: form.formId, version: form.version }]);
  const findLabel = labels(form.formId);
  const lengthOf = ({ answers, reference }: Texts): number => answers.length + reference.length;
  const texts = await mapWithYields(rows, lengthOf, (row) => beginningOf(row, findLabel));
  return findHits(
    database,
    hitTermsOf(index),
    texts.map((text) => ({ text, language: form.language })),
  );
}

/** Returns the beginning of a submission's texts: the part that is searched for hits. */
function beginningOf(row: Texts, findLabel: FindOptionLabel | undefined): string {
  let beginning = '';
  for (const { text } of listSubmissionTexts({ ...row, findLabel })) {
    beginning += `${text}\n`;
    if (beginning.length > mostReadCharacters) break;
  }
  return beginning;
}

/** Reads a form's submissions for people: filtered, searched, with neighbors, and as a file. */
export function tableRowEndpoints({ database, storage, links }: FileServices & { links: FileLinks }) {
  const optionLabels = openOptionLabels(database);
  return {
    listFormRows: operation({
      summary: 'List rows of a form',
      description:
        'Returns the submissions of a form as rows of a table: newest first or by `sort`. With `q`, they are sorted by relevance and include the words found.',
      permission: 'submissions:read',
      params: idParameter,
      query: RowsQuery,
      reply: { status: 200, description: 'A page of rows.', schema: TablePage },
      async run({ workspaceId, params, query }) {
        const form = { workspaceId, formId: params.id };
        const { language, version } = await readViewedForm(database, form);
        const view = await readTableView(database, form, query, { isPart: query.cursor === undefined });
        const cut = readPageRequestByPosition(
          typeof view.order === 'object' ? sortPositionPattern : uuidPattern,
          query,
          'rows',
          params.id,
        );
        const { rows: found, total } = await planTableReads(database, view).page(cut);
        const { rows, ends } = finishPageByPosition(cut, found, total, ({ id, place }) =>
          place ? encodeSortPosition(place) : id,
        );
        const hits = await findRowHits(
          { database, optionLabels },
          view.question,
          { ...form, version, language },
          rows,
        );
        const data = rows.map((row, index) => rowJson(row, hits[index]!));
        return { json: markJsonList<TablePage>(data, ends) };
      },
    }),

    viewSubmission: operation({
      summary: 'Get submission in a view',
      description:
        'Returns a submission with the form version that was answered, and the previous and next submission in the requested view.',
      permission: 'submissions:read',
      audit: 'entry by people',
      params: idParameter,
      query: ViewQuery,
      reply: { status: 200, description: 'The submission.', schema: SubmissionDetail },
      async run({ workspaceId, formIds, params, query }) {
        const row = requireRow(
          await findViewedSubmission(database, { workspace_id: workspaceId, id: params.id }),
        );
        requireFormAccess(formIds, row.form_id);
        const form = { workspaceId, formId: row.form_id };
        const [{ language, version }, view] = await Promise.all([
          readViewedForm(database, form),
          readTableView(database, form, query, { isPart: true }),
        ]);
        const [hits] = await findRowHits(
          { database, optionLabels },
          view.question,
          { ...form, version, language },
          [row],
        );
        const linked = mapFiles(
          JSON.parse(row.answers) as Answers,
          JSON.parse(row.fields) as Record<string, FieldDescription>,
          (file) => ({ ...file, url: links.sign({ workspaceId, formId: form.formId, id: file.id }) }),
        );
        const { form_name, structure, is_live_version } = row;
        return {
          body: {
            ...asWireValue(factsOf(row)),
            answers: linked,
            reference: JSON.parse(row.reference) as Record<string, string>,
            ...(row.respondent !== null && { respondent: JSON.parse(row.respondent) as Respondent }),
            hits: hits!,
            form_name,
            structure,
            is_live_version,
            ...(await describeWait(database, { ...form, id: row.id }, row.status)),
            ...(await planTableReads(database, view).neighbours(row.id)),
            etag: formatEtag(row.updated_at),
          },
        };
      },
    }),

    exportFormSubmissions: operation({
      summary: 'Export submissions of a form',
      description:
        'Streams all submissions that match the filter as a file. The respondent, the stage and the assignee are the last columns if the form uses them. Each workspace can run a few exports at the same time: 429 says when to retry. XLSX cells contain at most 32,767 characters; a longer answer is cut and marked. CSV and NDJSON contain the whole answer.',
      permission: 'submissions:read',
      audit: 'entry',
      params: idParameter,
      query: ExportQuery,
      example: { query: { format: 'csv', for: 'spreadsheets' } },
      reply: { status: 200, description: 'The file.', content: Object.values(exportTypes) },
      async run({ workspaceId, params, actor, query }) {
        const { format = 'csv', for: reader, columns: which, view: saved, language, ...request } = query;
        const form = { workspaceId, formId: params.id };
        const { name, access } = await readViewedForm(database, form);
        const view = await readTableView(database, form, request);
        const all = await readColumns(database, form, language);
        const columns = which === 'shown' ? await readShown(form, { actor, saved }, all) : all;
        const last = {
          hasRespondents: access === 'organisation',
          names: await readAssignmentNames(database, form),
        };
        const source = { columns, batches: readViewSubmissions(database, view), last };
        const day = now().toISOString().slice(0, 10);
        return {
          headers: { 'Content-Type': exportTypes[format], ...attachmentHeader(name, ` ${day}.${format}`) },
          stream: startLimitedExport(workspaceId, () =>
            exportStream(format, source, { forSpreadsheet: reader === 'spreadsheets' }),
          ),
        };
      },
    }),

    exportFormFiles: operation({
      summary: 'Export files of a form',
      description:
        'Streams the uploaded files and signatures of all submissions that match the filter as a ZIP file. The path of a file is `<submission id>/<element id>/<filename>`. Exports of files count as exports of submissions: 429 says when to retry.',
      permission: 'submissions:read',
      audit: 'entry',
      params: idParameter,
      query: FilesQuery,
      reply: { status: 200, description: 'The archive.', content: ['application/zip'] },
      async run({ workspaceId, params, query: { format = 'zip', ...request } }) {
        const form = { workspaceId, formId: params.id };
        const { name } = await readViewedForm(database, form);
        const view = await readTableView(database, form, request);
        const day = now().toISOString().slice(0, 10);
        return {
          headers: {
            'Content-Type': 'application/zip',
            ...attachmentHeader(name, ` files ${day}.${format}`),
          },
          stream: startLimitedExport(workspaceId, () =>
            filesStream({ database, storage }, workspaceId, readViewSubmissions(database, view)),
          ),
        };
      },
    }),
  };

  /**
   * Returns the columns as arranged by the person or a saved view. Returns all columns for API keys, and if
   * there is no arrangement.
   */
  async function readShown(
    { workspaceId, formId }: { workspaceId: string; formId: string },
    { actor, saved }: { actor: Actor; saved: string | undefined },
    columns: readonly Column[],
  ): Promise<readonly Column[]> {
    const key = { workspace_id: workspaceId, form_id: formId };
    const view =
      saved === undefined ? undefined : onlyRow(await findSavedView(database, { ...key, id: saved }));
    if (saved !== undefined && view?.form_id !== formId) throw new ApiError('not_found');
    const settings =
      view?.columns ??
      (actor.kind === 'person'
        ? onlyRow(await findTableSettings(database, { ...key, user_id: actor.id }))?.settings
        : undefined);
    if (!settings) return columns;
    return orderColumns(columns, settings.order).filter(({ id }) => !settings.hidden.includes(id));
  }
}

/** Returns a row as JSON text. Its largest parts are already stored as JSON. */
const rowJson = (row: FoundRow, hits: readonly string[]): JsonText<TableRow> =>
  markJsonText(
    `${JSON.stringify({ ...factsOf(row), hits }).slice(0, -1)},"answers":${row.answers},"reference":${row.reference}}`,
  );

const factsOf = (row: FoundRow) => ({
  id: row.id,
  status: row.status,
  version: row.version,
  created_at: row.created_at,
  updated_at: row.updated_at,
  completed_at: row.completed_at,
  tags: row.tags,
  stage_id: row.stage_id,
  assignee_id: row.assignee_id,
});
