import type { FastifyRequest } from 'fastify';
import type { FileAnswer } from '#ast/answers/check-answers.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { discardReceived, readPost } from './post/read-post.ts';
import {
  createResumableUpload,
  isTusRequest,
  type OpenForm,
  resumableUploadRoutes,
  type UploadContext,
} from './resumable-upload-routes.ts';
import { checkPostSource } from './visit/screening.ts';
import type { Visit } from './visit/visit.ts';

/**
 * Adds `POST /f/<id>/files`, or the route below an edit link, which uploads a file before its form is
 * submitted. The file is the only part of a multipart body, under its field's name. Returns 201 with a token,
 * which the form posts as `_file[<field>]`. A file that is not submitted is deleted after a day. With
 * `Tus-Resumable`, the post creates a resumable upload instead.
 */
export function uploadRoute<Params extends object>(
  server: Server,
  context: UploadContext,
  path: string,
  open: OpenForm<Params>,
): void {
  const options = { onRequest: checkPostSource(context) };
  server.post(path, options, async (request: FastifyRequest<{ Params: Params }>, reply) => {
    const visit = await open(request, reply);
    if (isTusRequest(request)) return createResumableUpload(context, request, reply, visit);
    const { live } = visit;
    const [field, file] = await receiveOne(context, request, visit);
    const token = context.heldFiles.token(live, field, file.id);
    const { filename, size, content_type } = file;
    return reply.code(201).send({ token, filename, size, content_type });
  });
  resumableUploadRoutes(server, context, path, open);
  refuseOtherMethods(server, path, ['POST', 'OPTIONS']);
}

/** Returns the file and its field's name. A request that is refused or incomplete keeps nothing. */
async function receiveOne(
  context: UploadContext,
  request: FastifyRequest,
  visit: Pick<Visit, 'live' | 'words' | 'locale'>,
): Promise<[field: string, file: FileAnswer]> {
  const { live } = visit;
  const post = await readPost(context, request, live, visit);
  const received = [...post.received].flatMap(([field, files]) =>
    files.map((file): [string, FileAnswer] => [field, file]),
  );
  const [only] = received;
  if (only && received.length === 1 && post.problems.length === 0) return only;
  await discardReceived(context, live, post.received);
  if (post.problems.length > 0)
    throw new ApiError('validation_error', undefined, { errors: [...post.problems] });
  throw new ApiError('bad_request', 'Send one file, as the only part of a multipart/form-data body.');
}
