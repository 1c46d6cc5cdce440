import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import { Type } from 'typebox';
import { effectiveForm } from '#ast/form/effective-form.ts';
import { answerKindOf, type Form, listQuestions } from '#ast/form/tree.ts';
import { requireForm } from '#forms/form-rows.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { operation } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import type { ByteRange } from '#kit/storage.ts';
import { strictObject, uuidSchema } from '#kit/validation.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { type FileLinks, type FileServices, receiveFile, storageKey } from './stored-files.ts';

/** Returns how many bytes the files of a form and of its workspace use. */
const storedBytes = statement('workspace_id form_id', 'of_form:bigint of_workspace:bigint')`
  select coalesce(sum(bytes) filter (where form_id = $form_id), 0)::bigint as of_form,
    coalesce(sum(bytes), 0)::bigint as of_workspace
  from stored_bytes where workspace_id = $workspace_id`;

const megabyte = 1024 * 1024;
type Limits = Pick<Config['limits'], 'uploadMbPerForm' | 'uploadMbPerWorkspace'>;

/** Returns how many bytes of files a form can still store, by its own limit and that of its workspace. */
export async function readRemainingBytes(
  db: Queryable,
  limits: Limits,
  { workspaceId, formId }: { workspaceId: string; formId: string },
): Promise<number> {
  const [stored] = await storedBytes(db, { workspace_id: workspaceId, form_id: formId });
  return Math.min(
    roomIn(limits.uploadMbPerForm, stored!.of_form),
    roomIn(limits.uploadMbPerWorkspace, stored!.of_workspace),
  );
}

/** A limit of 0 means no limit. */
const roomIn = (megabytes: number, stored: number): number =>
  megabytes === 0 ? Number.POSITIVE_INFINITY : megabytes * megabyte - stored;

/** Types that can't be detected from bytes and are harmless if they are declared falsely. */
const declaredTypes = [
  'text/plain',
  'text/csv',
  'text/markdown',
  'application/json',
  'application/rtf',
] as const;

const NewFile = strictObject({
  form_id: uuidSchema,
  element: Type.String({ description: 'The id of the question that the file answers.' }),
  filename: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'The name is stored without a path and shortened to 200 bytes.',
  }),
  content_type: Type.Optional(
    Type.Enum([...declaredTypes], {
      description: 'Only used for text files. Other types are detected from the bytes.',
    }),
  ),
});

const UploadedFile = namedObject('UploadedFile', {
  id: uuidSchema,
  filename: Type.String(),
  size: Type.Integer({ description: 'Size in bytes.' }),
  content_type: Type.String({ description: 'The type detected from the bytes.' }),
});

/** Operations that upload files before a submission names them. */
export const fileEndpoints = ({
  database,
  storage,
  config,
}: FileServices & { config: Pick<Config, 'limits'> }) => ({
  createFile: operation({
    summary: 'Create file',
    description:
      'Uploads a file for one question of a form. Its id is the answer: `{"answers": {"cv": ["<id>"]}}` in Create submission or Change submission. A file that no submission refers to is deleted after a day. A file has at most 10 MB, unless the operator allows up to 5,000 MB (`UPLOAD_MAX_FILE_MB`). The body of a repeated `Idempotency-Key` is not compared.',
    permission: 'files:write',
    audit: {
      none: 'The file belongs to nothing until a submission refers to it. Submissions have their own history.',
    },
    query: NewFile,
    bodyContent: ['application/octet-stream'],
    streamsBody: true,
    bodyLimit: config.limits.fileBytes,
    example: {
      query: {
        form_id: '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1',
        element: 'file',
        filename: 'notes.txt',
        content_type: 'text/plain',
      },
      body: Buffer.from('Notes.\n'),
    },
    reply: { status: 201, description: 'The file.', schema: UploadedFile },
    async run({ workspaceId, formIds, query, body }) {
      const place = { workspaceId, formId: query.form_id };
      requireFormAccess(formIds, place.formId);
      const { structure } = await requireForm(database, place);
      if (!takesFiles(effectiveForm(structure), query.element))
        refuse('element', 'The form has no file question with this id.');
      const room = await readRemainingBytes(database, config.limits, place);
      const file = await receiveFile(
        { database, storage },
        {
          ...place,
          element: query.element,
          filename: query.filename,
          declaredType: query.content_type ?? '',
          source: readUntilFull(body, room),
          limit: config.limits.fileBytes,
        },
      );
      return { body: file };
    },
  }),
});

/**
 * Yields the bytes of a file while the form has room. The rest of the request stays unread, so that the caller
 * gets the response.
 */
async function* readUntilFull(body: Readable, room: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > room)
      refuse('form_id', 'This form has no storage left for files. Delete submissions with files first.');
    yield chunk;
  }
}

/** Includes questions in the rows of a group. */
const takesFiles = (form: Form, element: string): boolean =>
  listQuestions(form)
    .flatMap((question) => (question.kind === 'input' ? [question.element] : question.inputs))
    .some((input) => input.attrs.id === element && answerKindOf(input) === 'files');

function refuse(field: string, message: string): never {
  throw new ApiError('validation_error', message, {
    errors: [{ field, message, code: 'invalid_reference' }],
  });
}

/**
 * Finds a file that may be downloaded: its submission is not in the trash, its form is not deleted, and its
 * workspace is open.
 */
export const findClaimedFile = statement('workspace_id form_id id', 'filename content_type size')`
  select f.filename, f.content_type, f.size from files f
  join forms on forms.workspace_id = f.workspace_id and forms.id = f.form_id
  join workspaces w on w.id = f.workspace_id and w.ends_at is null
  join submissions s on s.workspace_id = f.workspace_id and s.id = f.submission_id
  where f.workspace_id = $workspace_id and f.form_id = $form_id and f.id = $id and s.trashed_at is null and forms.deleted_at is null`;

/**
 * Reads a Range of one part, so that a download can continue. Returns undefined for the whole file, which RFC 9110
 * allows for every other range. Files have no ETag, so If-Range never matches.
 */
function readRange(headers: IncomingHttpHeaders, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
  if ((first === '' && last === '') || headers['if-range'] !== undefined) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start <= end ? { start, end } : undefined;
}

type Download = {
  Params: { workspace: string; form: string; file: string };
  Querystring: { expires?: string; signature?: string };
};

/**
 * Serves `GET /files/<workspace>/<form>/<file>?expires&signature`: the bytes, for a valid link. The response
 * is always a download, never sniffed, and sandboxed, because an uploaded page must not run in our origin
 * (docs/rules.md T14).
 */
export function fileRoutes(server: Server, context: FileServices & { links: FileLinks }): void {
  server.get<Download>('/files/:workspace/:form/:file', async (request, reply) => {
    const { workspace, form, file } = request.params;
    const { expires = '', signature = '' } = request.query;
    if (!context.links.verify({ workspaceId: workspace, formId: form, id: file }, expires, signature))
      throw new ApiError('forbidden', 'This link is not valid or has expired. Ask for a new one.');
    const [found] = await findClaimedFile(context.database, {
      workspace_id: workspace,
      form_id: form,
      id: file,
    });
    const isHead = request.method === 'HEAD';
    const range = found && !isHead ? readRange(request.headers, found.size) : undefined;
    // For an empty stream, the framework keeps our Content-Length, which a response to HEAD needs.
    const read = () =>
      isHead ? Readable.from([]) : context.storage.open(storageKey(workspace, file), range);
    const stream = found && (await read());
    if (!found || !stream) throw new ApiError('not_found', 'This file no longer exists.');
    if (range) reply.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${found.size}`);
    return reply
      .headers({
        'Content-Type': found.content_type,
        'Content-Length': String(range ? range.end - range.start + 1 : found.size),
        'Accept-Ranges': 'bytes',
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
