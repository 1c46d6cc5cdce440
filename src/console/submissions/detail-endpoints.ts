import { create as contentDisposition } from 'content-disposition';
import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';
import { storageKey } from '#files/receive.ts';
import { tagOf } from '#kit/conditional.ts';
import { ApiError } from '#kit/errors.ts';
import { mapFiles } from '#submissions/present.ts';
import { consoleEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { readViewedForm } from '#submissions/columns/read-columns.ts';
import { findSubmissionFile, findViewedSubmission } from './queries.ts';
import { findRowHits } from './row-hits.ts';
import { FilePath, type LinkedFile, SubmissionPath, ViewQuery } from './shapes.ts';
import { readNeighbours, readView } from './view.ts';

/** The images that browsers draw without running anything of them; SVG is none of these. */
const shownImages: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

/** One submission with the version that it answered, fresh links, and what stands above and below it in the view. */
export const detailEndpoint = ({ database, links }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: SubmissionPath,
    query: ViewQuery,
    async run({ workspaceId, params, query }) {
      const key = { workspaceId, formId: params.form };
      const { language } = await readViewedForm(database, key);
      const view = await readView(database, key, query);
      const [row] = await findViewedSubmission(database, {
        workspace_id: workspaceId,
        form_id: params.form,
        id: params.submission,
      });
      if (!row) throw new ApiError('not_found');
      const { fields, has_files: _, ...shown } = row;
      const etag = tagOf(row.updated_at!);
      const answers = JSON.parse(row.answers!) as Answers;
      const reference = JSON.parse(row.reference!) as object;
      const [hits] = await findRowHits(database, { language, q: view.q }, [{ answers, reference }]);
      const files = `/app/api/workspaces/${workspaceId}/forms/${params.form}/submissions/${params.submission}/files`;
      const linked = mapFiles(
        answers,
        JSON.parse(fields) as Record<string, FieldDescription>,
        (file): LinkedFile => ({
          ...file,
          url: links.sign(workspaceId, file.id),
          ...(shownImages.has(file.content_type) && { preview_url: `${files}/${file.id}/preview` }),
        }),
      );
      const neighbours = await readNeighbours(database, view, params.submission);
      return { status: 200, body: { ...shown, answers: linked, reference, hits, ...neighbours, etag } };
    },
  });

/**
 * An uploaded image, drawn in the page. Only kinds that were recognised by their bytes and that nothing runs in;
 * not sniffed, and sandboxed as if it were a page (docs/rules.md T14). Everything else is a download (files/routes.ts).
 */
export const previewEndpoint = ({ database, storage }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FilePath,
    async run({ workspaceId, params }) {
      const key = {
        workspace_id: workspaceId,
        form_id: params.form,
        submission_id: params.submission,
        id: params.file,
      };
      const [file] = await findSubmissionFile(database, key);
      const stream =
        file && shownImages.has(file.content_type)
          ? await storage.open(storageKey(workspaceId, params.file))
          : undefined;
      if (!file || !stream) throw new ApiError('not_found');
      return {
        status: 200,
        headers: {
          'Content-Type': file.content_type,
          'Content-Length': String(file.size),
          'Content-Disposition': contentDisposition(file.filename, { type: 'inline' }),
          'Content-Security-Policy': "sandbox; default-src 'none'",
          'Cross-Origin-Resource-Policy': 'same-origin',
          'Cache-Control': 'private, max-age=300',
          'Referrer-Policy': 'no-referrer',
        },
        stream,
      };
    },
  });
