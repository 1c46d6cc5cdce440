import type { FastifyReply, FastifyRequest } from 'fastify';
import { normalizeText } from '#ast/basics/text.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { appendToUpload, completeUpload, createUpload, findUpload } from '#files/resumable-uploads.ts';
import { discardFiles } from '#files/stored-files.ts';
import { timeOfId, uuidPattern } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { onlyRow } from '#kit/statement.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import {
  admitUpload,
  describeUploadRefusal,
  fileElementsOf,
  metered,
  type ReadPostServices,
  UploadRefused,
} from './post/read-post.ts';
import type { KeptFiles } from './visit/kept-files.ts';
import { checkPostSource, type PostSourceServices } from './visit/screening.ts';
import type { Visit } from './visit/visit.ts';

/*
 * Resumable uploads by the tus protocol 1.0.0 (https://tus.io/protocols/resumable-upload) with the extensions
 * creation, expiration and termination. The page's script uses it for files of 8 MB and more
 * (docs/decisions/0115-resumable-uploads.md).
 */

const version = '1.0.0';
const dayMs = 86_400_000;

export type UploadContext = ReadPostServices & PostSourceServices & { heldFiles: KeptFiles };

type Page = Pick<Visit, 'live' | 'words' | 'locale'>;

/** Opens the form of a request if it can be filled in now, with the texts in the visitor's language. */
export type OpenForm<Params> = (
  request: FastifyRequest<{ Params: Params }>,
  reply: FastifyReply,
) => Promise<Page>;

/** Returns whether a request to the upload route creates a resumable upload. */
export const isTusRequest = ({ headers }: FastifyRequest): boolean => headers['tus-resumable'] !== undefined;

/** Adds the routes of one resumable upload below the path of an upload route, and OPTIONS of that path. */
export function resumableUploadRoutes<Params extends object>(
  server: Server,
  context: UploadContext,
  path: string,
  open: OpenForm<Params>,
): void {
  type UploadRequest = FastifyRequest<{ Params: Params & { upload: string } }>;
  const url = `${path}/:upload`;
  const onRequest = checkPostSource(context);
  const find = async (request: UploadRequest, reply: FastifyReply) => {
    checkVersion(request, reply);
    const page = await open(request, reply);
    const { upload: token } = request.params as { upload: string };
    const [id = ''] = token.split('.');
    const { workspaceId, id: formId } = page.live;
    const key = { workspace_id: workspaceId, form_id: formId, id };
    const file = uuidPattern.test(id) ? onlyRow(await findUpload(context.database, key)) : undefined;
    if (!file || !context.heldFiles.verify(page.live, file.element, token))
      throw new ApiError('not_found', 'This upload does not exist or has expired.');
    reply.header('Upload-Expires', expiryOf(id));
    return { page, file, of: { workspaceId, formId, id } };
  };

  server.head(url, async (request: UploadRequest, reply) => {
    const { file, of } = await find(request, reply);
    const length = file.upload?.length ?? file.size;
    const isStored = file.upload !== null && file.size === length;
    if (isStored) await completeUpload(context, of, length);
    const done = isStored ? (await find(request, reply)).file : file;
    const metadata = { filename: done.filename, filetype: done.content_type };
    return reply
      .headers({
        'Upload-Offset': String(done.size),
        'Upload-Length': String(length),
        'Upload-Metadata': Object.entries(metadata)
          .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
          .join(','),
        'Cache-Control': 'no-store',
      })
      .send();
  });

  server.patch(url, { onRequest }, async (request: UploadRequest, reply) => {
    const { page, file, of } = await find(request, reply);
    if (request.body !== request.raw)
      throw new ApiError('unsupported_media_type', 'Send the bytes as application/offset+octet-stream.');
    const offset = readCount(request, 'upload-offset');
    const length = file.upload?.length ?? file.size;
    if (offset !== file.size)
      throw new ApiError('conflict', `The upload continues at offset ${file.size}, not ${offset}.`);
    if (offset + Number(request.headers['content-length'] ?? 0) > length)
      throw new ApiError('payload_too_large', `The upload has only ${length} bytes.`);
    const address = ipRateLimitKey(request.ip);
    const stored =
      file.upload === null
        ? file.size
        : await appendToUpload(context, of, { offset, body: request.raw }, (piece, from) =>
            metered(context, page.live, address, piece, from),
          ).catch(refuseUpload(file.element, page));
    return reply.code(204).header('Upload-Offset', String(stored)).send();
  });

  server.delete(url, { onRequest }, async (request: UploadRequest, reply) => {
    const { of } = await find(request, reply);
    await discardFiles(context, of.workspaceId, [of.id]);
    return reply.code(204).send();
  });

  const limits = {
    'Tus-Resumable': version,
    'Tus-Version': version,
    'Tus-Extension': 'creation,expiration,termination',
    'Tus-Max-Size': String(context.config.limits.fileBytes),
  };
  for (const each of [path, url])
    server.options(each, async (_request, reply) => reply.code(204).headers(limits).send());
  refuseOtherMethods(server, url, ['HEAD', 'PATCH', 'DELETE', 'OPTIONS']);
}

/** Creates an upload. `Upload-Metadata` names the field, the file and its type. */
export async function createResumableUpload(
  context: UploadContext,
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
): Promise<FastifyReply> {
  checkVersion(request, reply);
  const { live, words } = page;
  const length = readCount(request, 'upload-length');
  const { field = '', filename = '', filetype: declaredType = '' } = readMetadata(request);
  const element = fileElementsOf(live)(field);
  if (!element) {
    const message = fillTemplate(words.fileUnexpected, { name: field.slice(0, 80) });
    throw new ApiError('validation_error', undefined, { errors: [{ field: field || 'field', message }] });
  }
  const limit = Math.min(element.max_file_size ?? Infinity, context.config.limits.fileBytes);
  if (length < 1 || length > limit)
    throw new ApiError('payload_too_large', `Upload-Length must be between 1 and ${limit}.`);
  await admitUpload(context, live, ipRateLimitKey(request.ip), length).catch(refuseUpload(field, page));
  const { workspaceId, id: formId } = live;
  const file = { workspaceId, formId, element: element.id, filename, declaredType, length };
  const id = await createUpload(context, file);
  const [path = '', query] = request.url.split('?', 2);
  const location = `${path.replace(/\/$/, '')}/${context.heldFiles.token(live, field, id)}`;
  return reply
    .code(201)
    .headers({
      Location: query === undefined ? location : `${location}?${query}`,
      'Upload-Expires': expiryOf(id),
    })
    .send();
}

/** Checks the protocol version of a request. @throws ApiError precondition_failed. */
function checkVersion({ headers }: FastifyRequest, reply: FastifyReply): void {
  reply.header('Tus-Resumable', version);
  if (headers['tus-resumable'] !== version)
    throw new ApiError('precondition_failed', `Send the header Tus-Resumable: ${version}.`, {
      headers: { 'Tus-Version': version },
    });
}

/** Reads a header with a number of bytes. @throws ApiError bad_request. */
function readCount({ headers }: FastifyRequest, name: 'upload-length' | 'upload-offset'): number {
  const given = String(headers[name] ?? '');
  if (!/^\d{1,15}$/.test(given))
    throw new ApiError('bad_request', `The header ${name} must be a whole number of bytes.`);
  return Number(given);
}

/** Reads Upload-Metadata: pairs of a key and a value in Base64, separated by commas. */
function readMetadata({ headers }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  const pairs = String(headers['upload-metadata'] ?? '').split(',');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', value = ''] = pair.trim().split(' ');
      return [key, normalizeText(Buffer.from(value, 'base64').toString())];
    }),
  );
}

/** Returns when an upload expires. Its id has the time when it began. */
const expiryOf = (id: string): string => new Date(timeOfId(id).getTime() + dayMs).toUTCString();

/** Creates a handler of errors, which reports an upload over a limit as an error of its field. */
const refuseUpload =
  (field: string, { words }: Page) =>
  (error: unknown): never => {
    if (!(error instanceof UploadRefused)) throw error;
    const message = describeUploadRefusal(error, words);
    throw new ApiError('validation_error', undefined, { errors: [{ field, message }] });
  };
