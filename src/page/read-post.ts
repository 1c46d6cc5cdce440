import fastifyMultipart, { type Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { AnswerError, FileAnswer } from '#ast/answers.ts';
import { parseRowName, type RawAnswers, readFields } from '#ast/fields.ts';
import { listQuestions } from '#ast/tree.ts';
import { fileLimits, receiveFile, type FilesContext } from '#files/receive.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { ApiError, errorCodes } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { restoreRows } from './rows.ts';

/** A visitor's post as it came: text by HTML name, and files that are stored but belong to nobody yet. */
export type Post = {
  raw: RawAnswers;
  /** The page's own controls: names with a leading underscore. */
  controls: readonly (readonly [name: string, value: string])[];
  /** By HTML name. */
  received: ReadonlyMap<string, readonly FileAnswer[]>;
  /** What is wrong with the files: too large, too many, or for no element that takes files. */
  problems: readonly AnswerError[];
};

/** Text fields are cut here, over the 64 KB that an answer may have, so that the check can say what is wrong. */
const fieldBytes = 128 * 1024;
/** The whole of a multipart body: more than ten full files, and past it the connection is closed. */
export const multipartBytes = 12 * fileLimits.fileBytes;

/** Teaches a server to read HTML forms: urlencoded and multipart. */
export async function readHtmlForms(server: Server): Promise<void> {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => {
      done(null, new URLSearchParams(body as string));
    },
  );
  await server.register(fastifyMultipart, {
    throwFileSizeLimit: false,
    limits: {
      fileSize: fileLimits.fileBytes,
      files: 100,
      fields: 5_000,
      parts: 5_100,
      fieldSize: fieldBytes,
      fieldNameSize: 300,
      headerPairs: 20,
    },
  });
}

/** Reads an HTML form's post, storing its files as they arrive. Whoever does not submit them must discard them. */
export async function readPost(
  context: FilesContext,
  request: FastifyRequest,
  live: LiveForm,
): Promise<Post> {
  if (request.body instanceof URLSearchParams) {
    return { ...readAnswers(live, request.body), received: new Map(), problems: [] };
  }
  if (!request.isMultipart()) {
    throw new ApiError('unsupported_media_type', 'Send the answers as JSON or as an HTML form.');
  }
  return readMultipart(context, request, live);
}

async function readMultipart(context: FilesContext, request: FastifyRequest, live: LiveForm): Promise<Post> {
  refuseEndlessBody(request);
  const entries: [string, string][] = [];
  const received = new Map<string, FileAnswer[]>();
  const problems: AnswerError[] = [];
  const fileNames = fileElementsOf(live);
  try {
    for await (const part of readParts(request)) {
      if (part.type === 'field') {
        entries.push([part.fieldname, textOf(part.value)]);
        continue;
      }
      const element = fileNames(part.fieldname);
      const files = received.get(part.fieldname) ?? [];
      // A browser sends an empty, nameless part for a file input that was left alone.
      const problem =
        part.filename === undefined || part.filename === ''
          ? undefined
          : element === undefined
            ? `"${part.fieldname.slice(0, 80)}" is not a question that takes files.`
            : files.length >= fileLimits.filesPerElement
              ? `${element.label}: choose at most ${fileLimits.filesPerElement} files.`
              : undefined;
      if (problem !== undefined) problems.push({ field: part.fieldname, message: problem });
      if (problem !== undefined || element === undefined || !part.filename) {
        part.file.resume();
        continue;
      }
      const file = await receiveFile(context, {
        workspaceId: live.workspaceId,
        formId: live.id,
        element: element.id,
        filename: part.filename,
        declaredType: part.mimetype,
        source: part.file,
      }).catch((error: unknown) => {
        throw part.file.errored ? malformed(error) : error;
      });
      received.set(part.fieldname, [...files, file]);
      if (part.file.truncated) {
        problems.push({
          field: part.fieldname,
          message: `${element.label}: "${file.filename}" is larger than ${fileLimits.fileBytes / 1024 / 1024} MB. Choose a smaller file.`,
        });
      }
    }
  } catch (error) {
    throw new BrokenPost(error, [...received.values()].flat());
  }
  return { ...readAnswers(live, entries), received, problems };
}

/** The parts of a multipart body. @throws ApiError bad_request or payload_too_large, whatever the parser calls it. */
async function* readParts(request: FastifyRequest): AsyncGenerator<Multipart> {
  try {
    for await (const part of request.parts()) {
      // The parser's types promise a name, and a part need not have one.
      if (typeof part.fieldname !== 'string')
        throw new ApiError('bad_request', 'A part of the form has no name.');
      yield part;
    }
  } catch (error) {
    throw malformed(error);
  }
}

function malformed(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  const isTooMuch =
    cause instanceof Error &&
    'statusCode' in cause &&
    cause.statusCode === errorCodes.payload_too_large.status;
  return isTooMuch
    ? new ApiError('payload_too_large', 'The form has too many parts.', { cause })
    : new ApiError('bad_request', 'The multipart body is broken, or ends too early.', { cause });
}

/** A field's text. The parser reads a field that is labelled as JSON, but what a visitor sends is text here. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The text of a post: answers with every row that the page showed, and the page's controls. */
function readAnswers(
  live: LiveForm,
  entries: Iterable<readonly [string, string]>,
): Pick<Post, 'raw' | 'controls'> {
  const { raw, extra } = readFields(live.form, entries);
  return { raw: restoreRows(live.form, raw, extra), controls: extra };
}

/** A post that ended in the middle, with the files that had arrived, for the caller to discard. */
export class BrokenPost extends Error {
  readonly files: readonly FileAnswer[];
  constructor(cause: unknown, files: readonly FileAnswer[]) {
    super('the post could not be read to its end', { cause });
    this.files = files;
  }
}

/** The file elements of a form by HTML name, those in the rows of a repeatable composite included. */
function fileElementsOf(live: LiveForm): (name: string) => { id: string; label: string } | undefined {
  const single = new Map<string, { id: string; label: string }>();
  const inGroup = new Map<string, { id: string; label: string }>();
  for (const question of listQuestions(live.form)) {
    const inputs = question.kind === 'input' ? [question.element] : question.inputs;
    for (const { type, attrs } of inputs) {
      if (type !== 'file_upload') continue;
      if (question.kind === 'input') single.set(attrs.id, attrs);
      else inGroup.set(`${question.element.attrs.id} ${attrs.id}`, attrs);
    }
  }
  return (name) => {
    const row = parseRowName(name);
    return row ? inGroup.get(`${row.group} ${row.id}`) : single.get(name);
  };
}

/** Says no before reading what is announced as too large, and hangs up on what turns out to be. */
function refuseEndlessBody(request: FastifyRequest): void {
  const limit = `The files are larger than ${multipartBytes / 1024 / 1024} MB together.`;
  if (Number(request.headers['content-length'] ?? 0) > multipartBytes) {
    throw new ApiError('payload_too_large', limit, { headers: { Connection: 'close' } });
  }
  let read = 0;
  request.raw.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > multipartBytes) request.raw.destroy(new ApiError('payload_too_large', limit));
  });
}
