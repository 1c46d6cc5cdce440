import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import type { FileLinks } from './link.ts';
import { type FilesContext, storageKey } from './receive.ts';
import { statement } from '#kit/statement.ts';

/** A file that may be downloaded: one of a living submission, outside the trash, of a living form, in a workspace that is open. */
export const findClaimedFile = statement(
  'find_claimed_file',
  'workspace_id form_id id',
  'filename content_type size',
  `select f.filename, f.content_type, f.size from files f
   join forms on forms.workspace_id = f.workspace_id and forms.id = f.form_id
   join workspaces w on w.id = f.workspace_id and w.ends_at is null
   join submissions s on s.workspace_id = f.workspace_id and s.id = f.submission_id
   where f.workspace_id = $workspace_id and f.form_id = $form_id and f.id = $id and s.trashed_at is null and forms.deleted_at is null`,
);

type Download = {
  Params: { workspace: string; form: string; file: string };
  Querystring: { expires?: string; signature?: string };
};

/**
 * `GET /files/<workspace>/<form>/<file>?expires&signature`: the bytes, to whoever holds a valid link. Always as a download,
 * never sniffed, and sandboxed: an uploaded page must not run in our origin (docs/rules.md T14).
 */
export function fileRoutes(server: Server, context: FilesContext & { links: FileLinks }): void {
  server.get<Download>('/files/:workspace/:form/:file', async (request, reply) => {
    const { workspace, form, file } = request.params;
    const { expires = '', signature = '' } = request.query;
    if (!context.links.verify({ workspaceId: workspace, formId: form, id: file }, expires, signature)) {
      throw new ApiError('forbidden', 'This link is not valid or has expired. Ask for a new one.');
    }
    const [found] = await findClaimedFile(context.database, {
      workspace_id: workspace,
      form_id: form,
      id: file,
    });
    // Of an empty stream the framework keeps our Content-Length, which a HEAD answer has as well.
    const read = () =>
      request.method === 'HEAD' ? Readable.from([]) : context.storage.open(storageKey(workspace, file));
    const stream = found && (await read());
    if (!found || !stream) throw new ApiError('not_found', 'This file no longer exists.');
    return reply
      .headers({
        'Content-Type': found.content_type,
        'Content-Length': String(found.size),
        'Content-Disposition': contentDisposition(found.filename),
        'Content-Security-Policy': "sandbox; default-src 'none'",
        'Cache-Control': 'private, no-store',
        'Referrer-Policy': 'no-referrer',
        'Cross-Origin-Resource-Policy': 'same-site',
      })
      .send(stream);
  });
  refuseOtherMethods(server, '/files/:workspace/:form/:file', ['GET']);
}
