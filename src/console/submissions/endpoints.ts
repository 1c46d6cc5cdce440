import { create as contentDisposition } from 'content-disposition';
import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { paginate, readPage } from '#kit/pagination.ts';
import type { Column } from '#submissions/columns.ts';
import { exportStream } from '#submissions/export/export.ts';
import { oneOfFew } from '#submissions/export/one-of-few.ts';
import { exportTypes } from '#submissions/export/formats.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { shownColumns } from './arrangement/shown-columns.ts';
import { readColumns, readViewedForm } from '#submissions/columns/read-columns.ts';
import { detailEndpoint, previewEndpoint } from './detail-endpoints.ts';
import { findTableSettings } from './queries.ts';
import { findRowHits } from './row-hits.ts';
import { readSettingsEndpoint, saveSettingsEndpoint } from './arrangement/endpoints.ts';
import { ExportQuery, FormPath, SummaryQuery, TableQuery } from './shapes.ts';
import { readSummary } from './summary/read-summary.ts';
import { timelineEndpoint } from './history/timeline-endpoint.ts';
import { type FoundRow, readView, readViewPage, readWholeView } from './view.ts';

const submissions = '/workspaces/:workspace/forms/:form/submissions';

/** A form's submissions in the console: table, detail, files, export and summary. */
export function submissionConsoleRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  return [
    ['GET', submissions, listEndpoint(services)],
    ['GET', `${submissions}/columns`, columnsEndpoint(services)],
    ['GET', `${submissions}/export`, exportEndpoint(services)],
    ['GET', `${submissions}/summary`, summaryEndpoint(services)],
    ['GET', `${submissions}/settings`, readSettingsEndpoint(services)],
    ['PUT', `${submissions}/settings`, saveSettingsEndpoint(services)],
    ['GET', `${submissions}/:submission`, detailEndpoint(services)],
    ['GET', `${submissions}/:submission/timeline`, timelineEndpoint(services)],
    ['GET', `${submissions}/:submission/files/:file/preview`, previewEndpoint(services)],
  ];
}

/** A page of the table: newest first, or with `q` by relevance and with the words that it found. */
const listEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FormPath,
    query: TableQuery,
    async run({ workspaceId, params, query }) {
      const key = { workspaceId, formId: params.form };
      const { language } = await readViewedForm(database, key);
      const view = await readView(database, key, query);
      const page = readPage(query);
      const { rows, total } = await readViewPage(database, view, page);
      const parsed = rows.map(parseRow);
      const hits = await findRowHits(database, { language, q: view.q }, parsed);
      const data = parsed.map((row, index) => ({ ...row, hits: hits[index]! }));
      return { status: 200, body: { data, pagination: paginate(page, total) } };
    },
  });

const parseRow = (row: FoundRow) => ({
  id: row.id,
  status: row.status,
  version: row.version,
  created_at: row.created_at,
  updated_at: row.updated_at,
  completed_at: row.completed_at,
  tags: row.tags,
  answers: JSON.parse(row.answers) as object,
  reference: JSON.parse(row.reference) as object,
});

const columnsEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FormPath,
    async run({ workspaceId, params }) {
      const key = { workspaceId, formId: params.form };
      await readViewedForm(database, key);
      return { status: 200, body: { data: await readColumns(database, key) } };
    },
  });

/** The view as a file. It is written while it is read, and nothing is read for a browser that went away. */
const exportEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FormPath,
    query: ExportQuery,
    async run({ workspaceId, params, user, query: { format, for: reader, columns: which, ...query } }) {
      const key = { workspaceId, formId: params.form };
      const { name } = await readViewedForm(database, key);
      const view = await readView(database, key, query);
      const all = await readColumns(database, key);
      const columns = which === 'shown' ? await readShown(database, key, user.id, all) : all;
      const source = { columns, batches: readWholeView(database, view) };
      const day = now().toISOString().slice(0, 10);
      return {
        status: 200,
        headers: {
          'Content-Type': exportTypes[format],
          'Content-Disposition': contentDisposition(`${name.slice(0, 80).toWellFormed()} ${day}.${format}`),
        },
        stream: oneOfFew(workspaceId, () =>
          exportStream(format, source, { forSpreadsheet: reader === 'spreadsheets' }),
        ),
      };
    },
  });

/** The columns as the person sees them; all of them while they have not arranged their table. */
async function readShown(
  database: Database,
  { workspaceId, formId }: { workspaceId: string; formId: string },
  userId: string,
  columns: readonly Column[],
): Promise<readonly Column[]> {
  const key = { workspace_id: workspaceId, form_id: formId, user_id: userId };
  const [found] = await findTableSettings(database, key);
  return found ? shownColumns(columns, found.settings) : columns;
}

const summaryEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FormPath,
    query: SummaryQuery,
    async run({ workspaceId, params, query: { time_zone, sample = 'newest', ...query } }) {
      // An offset like +02:00 means the opposite to PostgreSQL and to JavaScript.
      if (!/^[A-Za-z][\w+/-]*$/.test(time_zone))
        throw new ApiError('bad_request', '"time_zone" must be a time zone like Europe/Berlin.');
      const key = { workspaceId, formId: params.form };
      await readViewedForm(database, key);
      const body = await readSummary(database, await readView(database, key, query), {
        timeZone: time_zone,
        sample,
      });
      return { status: 200, body };
    },
  });
