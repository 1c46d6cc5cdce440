import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { FileAnswer } from '#ast/answers/check-answers.ts';
import { formatFileSize } from '#ast/basics/format-size.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { isInvisible, trimText } from '#ast/basics/text.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { fieldName, parseGroupFieldName, parseRawAnswers, type RawAnswers } from '#ast/form/fields.ts';
import { inputRules, takesFiles } from '#ast/form/input-rules.ts';
import { listQuestions } from '#ast/form/tree.ts';
import type { InputRules } from '#ast/types/rules.ts';
import { readRemainingBytes } from '#files/endpoints.ts';
import { discardFiles, type FileServices, receiveFile } from '#files/stored-files.ts';
import type { LiveForm } from '#forms/live-form.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { pieceBytes } from '#kit/storage.ts';
import { uploadsIn } from '#submissions/edited-answers.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { restoreRows } from '../render/elements/rows.ts';
import type { FieldMessage } from '../render/view.ts';
import type { Visit } from '../visit/visit.ts';
import type { Words } from '../words/words.ts';
import { charsetOf, decodeTexts, readUrlencoded, type SentText } from './charset.ts';
import {
  addMultipartParser,
  isMultipart,
  multipartError,
  partLimits,
  postedFileBytes,
  readMultipartParts,
  tooManyParts,
} from './multipart.ts';

const daySeconds = 86_400;
const megabyte = 1024 * 1024;

/** Why an upload stops: the sender reached the daily limit, or the form has no space left for files. */
type UploadLimit = 'sender' | 'form';

/** Thrown if a file exceeds a limit while it is uploaded. */
export class UploadRefused extends Error {
  readonly limit: UploadLimit;
  constructor(limit: UploadLimit) {
    super(`Upload limit reached: ${limit}`);
    this.limit = limit;
  }
}

type Metering = Pick<FileServices, 'database'> & {
  readonly requestCounter: RequestCounter;
  readonly config: Pick<Config, 'limits'>;
};

/** Counts an upload before its first byte. @throws UploadRefused if the limits do not allow its size. */
export async function admitUpload(
  context: Metering,
  { workspaceId, id }: Pick<LiveForm, 'workspaceId' | 'id'>,
  address: string,
  bytes: number,
): Promise<void> {
  const { limits } = context.config;
  if (limits.uploadMbPerAddress > 0 && bytes > limits.uploadMbPerAddress * megabyte)
    throw new UploadRefused('sender');
  if (bytes > (await readRemainingBytes(context.database, limits, { workspaceId, formId: id })))
    throw new UploadRefused('form');
  await countMegabytes(context, address, 1);
}

/** Counts MB of a sender. @throws UploadRefused above the daily limit. */
async function countMegabytes(
  { requestCounter, config: { limits } }: Metering,
  address: string,
  points: number,
): Promise<void> {
  const { requests } = await requestCounter.count(`uploads from ${address}`, daySeconds, points);
  if (limits.uploadMbPerAddress > 0 && requests > limits.uploadMbPerAddress)
    throw new UploadRefused('sender');
}

/**
 * Yields the bytes of a file while the limits allow it. Each MB is counted when it begins, so that an upload
 * over the limit stops early.
 * @param address the sender's address, as returned by ipRateLimitKey.
 * @param from the position in the file where the source begins. The bytes before it are already stored.
 * @throws UploadRefused, possibly before the first byte. The caller handles the rest of `source`.
 */
export async function* metered(
  context: Metering,
  { workspaceId, id }: Pick<LiveForm, 'workspaceId' | 'id'>,
  address: string,
  source: AsyncIterable<Buffer>,
  from = 0,
): AsyncGenerator<Buffer> {
  const { database, config } = context;
  const room = from + (await readRemainingBytes(database, config.limits, { workspaceId, formId: id }));
  let [bytes, counted] = [from, Math.ceil(from / megabyte)];
  const count = async (points: number): Promise<void> => {
    counted += points;
    await countMegabytes(context, address, points);
  };
  // A file counts as at least 1 MB, because its row and name also cost space. So does a request that begins within
  // a piece: an object store rewrites the beginning of the piece.
  if (from === 0 || from % pieceBytes > 0) await count(1);
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > room) throw new UploadRefused('form');
    if (bytes > counted * megabyte) await count(Math.ceil(bytes / megabyte) - counted);
    yield chunk;
  }
}

/** Dependencies for reading a post. */
export type ReadPostServices = FileServices & {
  readonly requestCounter: RequestCounter;
  readonly config: Pick<Config, 'limits'>;
};

/** A visitor's raw post: strings by HTML name, and stored files that belong to no submission yet. */
export type RawPost = {
  raw: RawAnswers;
  /** The page's own controls: names with a leading underscore. */
  controls: readonly (readonly [name: string, value: string])[];
  /** New files by HTML name. */
  received: ReadonlyMap<string, readonly FileAnswer[]>;
  /** Problems with the files: too large, too many, or sent to an element that does not accept files. */
  problems: readonly FieldMessage[];
};

/** Adds parsers for HTML forms to a server: urlencoded and multipart. */
export function addFormParsers(server: Server): void {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      // The maximum number of pairs equals the maximum number of fields in a multipart body.
      let pairs = 1;
      for (let at = body.indexOf('&'); at !== -1; at = body.indexOf('&', at + 1)) {
        pairs += 1;
        if (pairs > partLimits.fields) throw tooManyParts();
      }
      return readUrlencoded(body, request.headers['content-type']);
    },
  );
  addMultipartParser(server);
  // Resumable uploads read the bytes as they arrive.
  server.addContentTypeParser('application/offset+octet-stream', (_request, body, done) => done(null, body));
}

/**
 * Reads an HTML form's post and stores its files as they arrive. The caller must discard files that it does
 * not submit. If the post is incomplete, none of its files are kept. File problems are described in the
 * language of `page`.
 */
export async function readPost(
  context: ReadPostServices,
  request: FastifyRequest,
  live: LiveForm,
  page: VisitLanguage,
): Promise<RawPost> {
  if (request.body instanceof URLSearchParams) {
    const post: ReadPost = { ...readAnswers(live, request.body), received: new Map(), problems: [] };
    return writeFiles({ context, live, page, address: ipRateLimitKey(request.ip) }, post);
  }
  if (!isMultipart(request))
    throw new ApiError(
      'unsupported_media_type',
      request.headers['content-type']?.startsWith('application/json')
        ? 'This address accepts HTML forms only.'
        : 'Send the answers as JSON or as an HTML form.',
    );
  return readMultipart(context, request, live, page);
}

async function readMultipart(
  context: ReadPostServices,
  request: FastifyRequest,
  live: LiveForm,
  page: VisitLanguage,
): Promise<RawPost> {
  const texts: SentText[] = [];
  const received = new Map<string, readonly FileAnswer[]>();
  const problems: FieldMessage[] = [];
  const fileElement = fileElementsOf(live);
  const address = ipRateLimitKey(request.ip);
  try {
    for await (const part of readMultipartParts(request.raw, postedFileBytes(context.config))) {
      if (part.kind === 'field') {
        texts.push(part);
        continue;
      }
      const element = fileElement(part.name);
      const files = received.get(part.name) ?? [];
      // Browsers send an empty part without a file name for an empty file input.
      const problem =
        part.filename === ''
          ? undefined
          : refusalOf(page.words, part.name, element !== undefined, files.length);
      if (problem) problems.push({ field: part.name, message: problem });
      if (problem || !element || part.filename === '') {
        part.bytes.resume();
        continue;
      }
      const file = await receiveAllowed({ context, live, page, address }, element.id, part);
      if (typeof file === 'string') problems.push({ field: part.name, message: file });
      else received.set(part.name, [...files, file]);
    }
    const entries = decodeTexts(texts, charsetOf(request.headers['content-type']));
    return await writeFiles(
      { context, live, page, address },
      { ...readAnswers(live, entries), received, problems },
    );
  } catch (error) {
    await discardReceived(context, live, received);
    throw error;
  }
}

/**
 * Stores typed text as a file where a question expects a file and its type can convert the text (a typed
 * signature).
 */
async function writeFiles(receiving: Receiving, post: ReadPost): Promise<ReadPost> {
  for (const { input, holder, row } of uploadsIn(receiving.live.form, post.raw)) {
    const { id } = input.attrs;
    const { writeFile }: InputRules = inputRules[input.type];
    const text = holder[id];
    if (!writeFile || typeof text !== 'string' || isInvisible(text)) continue;
    const field = fieldName(input, row);
    const written = writeFile(trimText(text));
    // Validation reports the problem with the text.
    if (!written) continue;
    const { filename, content_type } = written;
    const bytes = Readable.from([Buffer.from(written.text)], { objectMode: false });
    const part = { filename, declaredType: content_type, knownType: content_type, bytes };
    const file = await receiveAllowed(receiving, id, part);
    if (typeof file === 'string') post.problems.push({ field, message: file });
    else {
      post.received.set(field, [file]);
      Reflect.deleteProperty(holder, id);
    }
  }
  return post;
}

type Receiving = {
  readonly context: ReadPostServices;
  readonly live: LiveForm;
  readonly page: VisitLanguage;
  readonly address: string;
};

/** An uploaded file, or a file made from typed text. */
type ReceivedPart = {
  readonly filename: string;
  readonly declaredType: string;
  readonly knownType?: string;
  readonly bytes: Readable & { readonly truncated?: boolean };
};

/**
 * Stores a file and returns it, or returns the error message. If a file is too large or exceeds a limit of
 * its sender or form, none of it is kept.
 */
async function receiveAllowed(
  { context, live, page: { words, locale }, address }: Receiving,
  element: string,
  { filename, declaredType, knownType, bytes }: ReceivedPart,
): Promise<FileAnswer | string> {
  const { workspaceId, id: formId } = live;
  // The bytes are not destroyed if a limit ends the upload: the next parts come after the rest of them.
  const chunks = bytes.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const source = metered(context, live, address, chunks);
  const limit = postedFileBytes(context.config);
  const part = { workspaceId, formId, element, filename, declaredType, knownType, source, limit };
  try {
    const file = await receiveFile(context, part);
    if (!bytes.truncated) return file;
    await discardFiles(context, workspaceId, [file.id]);
    const size = formatFileSize(limit, locale);
    return fillTemplate(words.fileTooLarge, { filename: file.filename, size });
  } catch (error) {
    if (error instanceof UploadRefused) {
      bytes.resume();
      return describeUploadRefusal(error, words);
    }
    // Distinguishes a failed upload from failed storage, whose error already describes itself.
    throw bytes.errored ? multipartError(error) : error;
  }
}

/** Returns the message about a file that exceeds a limit. */
export const describeUploadRefusal = ({ limit }: UploadRefused, words: Words): string =>
  words[refusals[limit]];

const refusals = { sender: 'uploadsLimited', form: 'uploadsFull' } as const satisfies Readonly<
  Record<UploadLimit, keyof Words>
>;

/** Deletes the files of a post that is not kept, except those of a submission. */
export async function discardReceived(
  context: FileServices,
  live: LiveForm,
  received: RawPost['received'],
): Promise<void> {
  const ids = [...received.values()].flat().map((file) => file.id);
  await discardFiles(context, live.workspaceId, ids);
}

function refusalOf(words: Words, name: string, isKnown: boolean, count: number): string | undefined {
  if (!isKnown) return fillTemplate(words.fileUnexpected, { name: name.slice(0, 80) });
  const limit = formLimits.files;
  return count >= limit ? fillTemplate(words.filesCrowded, { limit }) : undefined;
}

/** The language of a page. */
type VisitLanguage = Pick<Visit, 'words' | 'locale'>;

/** A post while it is being read. */
type ReadPost = RawPost & {
  readonly received: Map<string, readonly FileAnswer[]>;
  readonly problems: FieldMessage[];
};

/** Reads the texts of a post: answers with every row that the page showed, and the page's controls. */
function readAnswers(
  live: LiveForm,
  entries: Iterable<readonly [string, string]>,
): Pick<RawPost, 'raw' | 'controls'> {
  const { raw, extra } = parseRawAnswers(live.form, entries);
  return { raw: restoreRows(live.form, raw, extra), controls: extra };
}

type FileElement = { readonly id: string; readonly max_file_size?: number };

/** Finds file elements by HTML name, including those in rows of a repeatable group. */
export function fileElementsOf(live: LiveForm): (name: string) => FileElement | undefined {
  const single = new Map<string, FileElement>();
  const inGroup = new Map<string, FileElement>();
  for (const question of listQuestions(live.form)) {
    const inputs = question.kind === 'input' ? [question.element] : question.inputs;
    for (const { type, attrs } of inputs) {
      if (!takesFiles(type)) continue;
      if (question.kind === 'input') single.set(attrs.id, attrs);
      else inGroup.set(`${question.element.attrs.id} ${attrs.id}`, attrs);
    }
  }
  return (name) => {
    const row = parseGroupFieldName(name);
    return row ? inGroup.get(`${row.group} ${row.id}`) : single.get(name);
  };
}
