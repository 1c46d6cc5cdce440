import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { FileAnswer } from '#ast/answers.ts';
import { fieldName, parseRowName, type RawAnswers, readFields } from '#ast/fields.ts';
import { inputRules, takesFiles } from '#ast/input-rules.ts';
import { saySize } from '#ast/say-size.ts';
import { isInvisible, trimText } from '#ast/text.ts';
import { listQuestions } from '#ast/tree.ts';
import type { InputRules } from '#ast/types/rules.ts';
import { fill } from '#ast/words.ts';
import { readRoom } from '#files/endpoints.ts';
import { discardFiles, type FilesContext, fileLimits, receiveFile } from '#files/stored-files.ts';
import type { LiveForm } from '#forms/live-form.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { uploadsIn } from '#submissions/edited-answers.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { addressKey } from '#workspaces/users.ts';
import { restoreRows } from '../render/elements/rows.ts';
import type { FieldMessage } from '../render/view.ts';
import type { Visit } from '../visit/visit.ts';
import type { Words } from '../words/words.ts';
import { charsetOf, decodeTexts, readUrlencoded, type SentText } from './charset.ts';
import { broken, isMultipart, partLimits, readParts, takeMultipart, tooManyParts } from './multipart.ts';

const daySeconds = 86_400;
const megabyte = 1024 * 1024;

/** Why no more of a file is taken: its sender has used up the day, or there is no room for files of this form. */
type UploadLimit = 'sender' | 'form';

/** A file went past a limit while it came. */
class UploadRefused extends Error {
  readonly limit: UploadLimit;
  constructor(limit: UploadLimit) {
    super(`No more of the file is taken: ${limit}`);
    this.limit = limit;
  }
}

type Metering = Pick<FilesContext, 'database'> & {
  readonly requestCounter: RequestCounter;
  readonly config: Pick<Config, 'limits'>;
};

/**
 * The bytes of a file while the limits allow it: each MB is counted as it begins to come, so that nobody has to send
 * the whole of what is not taken, or can send more of it than that.
 * @param address of the sender, as addressKey makes it.
 * @throws UploadRefused from the first byte on; the rest of `source` is left to the caller.
 */
async function* metered(
  { database, requestCounter, config: { limits } }: Metering,
  { workspaceId, id }: Pick<LiveForm, 'workspaceId' | 'id'>,
  address: string,
  source: Readable,
): AsyncGenerator<Buffer> {
  const room = await readRoom(database, limits, { workspaceId, formId: id });
  let [bytes, counted] = [0, 0];
  const count = async (points: number): Promise<void> => {
    counted += points;
    const { requests } = await requestCounter.count(`uploads from ${address}`, daySeconds, points);
    if (limits.uploadMbPerAddress > 0 && requests > limits.uploadMbPerAddress)
      throw new UploadRefused('sender');
  };
  // A file counts as one MB at least: it is a row and a name besides.
  await count(1);
  // Not destroyed at its end: the rest is still to be read past, for the parts behind it.
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > room) throw new UploadRefused('form');
    if (bytes > counted * megabyte) await count(Math.ceil(bytes / megabyte) - counted);
    yield chunk;
  }
}

/** What reading a post needs. */
export type ReadingContext = FilesContext & {
  readonly requestCounter: RequestCounter;
  readonly config: Pick<Config, 'limits'>;
};

/** A visitor's post as it came: text by HTML name, and files that are stored but belong to nobody yet. */
export type Post = {
  raw: RawAnswers;
  /** The page's own controls: names with a leading underscore. */
  controls: readonly (readonly [name: string, value: string])[];
  /** By HTML name. */
  received: ReadonlyMap<string, readonly FileAnswer[]>;
  /** What is wrong with the files: too large, too many, or for no element that takes files. */
  problems: readonly FieldMessage[];
};

/** Teaches a server to read HTML forms: urlencoded and multipart. */
export function readHtmlForms(server: Server): void {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      // As many pairs as a multipart body may have parts.
      let pairs = 1;
      for (let at = body.indexOf('&'); at !== -1; at = body.indexOf('&', at + 1)) {
        pairs += 1;
        if (pairs > partLimits.fields) throw tooManyParts();
      }
      return readUrlencoded(body, request.headers['content-type']);
    },
  );
  takeMultipart(server);
}

/**
 * Reads an HTML form's post, storing its files as they arrive. Whoever does not submit them must discard them; of a
 * post that cannot be read to its end nothing is kept. What is wrong with a file is said in the words of `page`.
 */
export async function readPost(
  context: ReadingContext,
  request: FastifyRequest,
  live: LiveForm,
  page: Speaking,
): Promise<Post> {
  if (request.body instanceof URLSearchParams) {
    const post: ReadPost = { ...readAnswers(live, request.body), received: new Map(), problems: [] };
    return writeFiles({ context, live, page, address: addressKey(request.ip) }, post);
  }
  if (!isMultipart(request)) {
    throw new ApiError('unsupported_media_type', 'Send the answers as JSON or as an HTML form.');
  }
  return readMultipart(context, request, live, page);
}

async function readMultipart(
  context: ReadingContext,
  request: FastifyRequest,
  live: LiveForm,
  page: Speaking,
): Promise<Post> {
  const texts: SentText[] = [];
  const received = new Map<string, readonly FileAnswer[]>();
  const problems: FieldMessage[] = [];
  const fileElement = fileElementsOf(live);
  const address = addressKey(request.ip);
  try {
    for await (const part of readParts(request.raw)) {
      if (part.kind === 'field') {
        texts.push(part);
        continue;
      }
      const element = fileElement(part.name);
      const files = received.get(part.name) ?? [];
      // A browser sends an empty, nameless part for a file input that was left alone.
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

/** Stores what was written where a file is asked for as the file that it stands for, if its type has one. */
async function writeFiles(receiving: Receiving, post: ReadPost): Promise<ReadPost> {
  for (const { input, holder, row } of uploadsIn(receiving.live.form, post.raw)) {
    const { id } = input.attrs;
    const { writeFile }: InputRules = inputRules[input.type];
    const text = holder[id];
    if (!writeFile || typeof text !== 'string' || isInvisible(text)) continue;
    const field = fieldName(input, row);
    const written = writeFile(trimText(text));
    // The check says what is wrong with the text.
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
  readonly context: ReadingContext;
  readonly live: LiveForm;
  readonly page: Speaking;
  readonly address: string;
};

/** A file as it comes, or as it is made here. */
type ReceivedPart = {
  readonly filename: string;
  readonly declaredType: string;
  readonly knownType?: string;
  readonly bytes: Readable & { readonly truncated?: boolean };
};

/**
 * The file, stored; or what is wrong with it, and nothing of it is kept: it is larger than a file may be, so that only
 * its beginning came, or a limit of its sender or of the form is reached.
 */
async function receiveAllowed(
  { context, live, page: { words, locale }, address }: Receiving,
  element: string,
  { filename, declaredType, knownType, bytes }: ReceivedPart,
): Promise<FileAnswer | string> {
  const { workspaceId, id: formId } = live;
  const source = Readable.from(metered(context, live, address, bytes), { objectMode: false });
  const part = { workspaceId, formId, element, filename, declaredType, knownType, source };
  try {
    const file = await receiveFile(context, part);
    if (!bytes.truncated) return file;
    await discardFiles(context, workspaceId, [file.id]);
    const size = saySize(fileLimits.fileBytes, locale);
    return fill(words.fileTooLarge, { filename: file.filename, size });
  } catch (error) {
    if (error instanceof UploadRefused) {
      bytes.resume();
      return words[refusals[error.limit]];
    }
    // What failed is what came, or else what it was written to, which says so itself.
    throw bytes.errored ? broken(error) : error;
  }
}

const refusals = { sender: 'uploadsLimited', form: 'uploadsFull' } as const satisfies Readonly<
  Record<UploadLimit, keyof Words>
>;

/** Removes files that came with a post which is not kept. Claimed ones are not touched by this. */
export async function discardReceived(
  context: FilesContext,
  live: LiveForm,
  received: Post['received'],
): Promise<void> {
  const ids = [...received.values()].flat().map((file) => file.id);
  await discardFiles(context, live.workspaceId, ids);
}

function refusalOf(words: Words, name: string, isKnown: boolean, count: number): string | undefined {
  if (!isKnown) return fill(words.fileUnexpected, { name: name.slice(0, 80) });
  const limit = fileLimits.filesPerElement;
  return count >= limit ? fill(words.filesCrowded, { limit }) : undefined;
}

/** The language in which a page speaks. */
type Speaking = Pick<Visit, 'words' | 'locale'>;

/** What is read, while more may come to it. */
type ReadPost = Post & {
  readonly received: Map<string, readonly FileAnswer[]>;
  readonly problems: FieldMessage[];
};

/** The text of a post: answers with every row that the page showed, and the page's controls. */
function readAnswers(
  live: LiveForm,
  entries: Iterable<readonly [string, string]>,
): Pick<Post, 'raw' | 'controls'> {
  const { raw, extra } = readFields(live.form, entries);
  return { raw: restoreRows(live.form, raw, extra), controls: extra };
}

/** The file elements of a form by HTML name, those in the rows of a repeatable composite included. */
function fileElementsOf(live: LiveForm): (name: string) => { id: string } | undefined {
  const single = new Map<string, { id: string }>();
  const inGroup = new Map<string, { id: string }>();
  for (const question of listQuestions(live.form)) {
    const inputs = question.kind === 'input' ? [question.element] : question.inputs;
    for (const { type, attrs } of inputs) {
      if (!takesFiles(type)) continue;
      if (question.kind === 'input') single.set(attrs.id, attrs);
      else inGroup.set(`${question.element.attrs.id} ${attrs.id}`, attrs);
    }
  }
  return (name) => {
    const row = parseRowName(name);
    return row ? inGroup.get(`${row.group} ${row.id}`) : single.get(name);
  };
}
