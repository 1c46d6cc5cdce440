import { lstat, open, rm, writeFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isRecord, isSameJson } from '#ast/basics/json.ts';
import { untilAborted } from '#kit/concurrency.ts';
import { readConfig } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import {
  type ApiRequest,
  type ApiResponse,
  commandNameOf,
  pathParameterNameOf,
} from '../operations/call-operation.ts';
import { type ApiRoute, apiRoutes } from '../operations/operations.ts';
import type { Services } from '../operations/services.ts';
import {
  type ApiCommandContext,
  type Command,
  type CommandOption,
  optionName,
  optionsOfSchema,
  readFieldsFromOptions,
  valueReaderOf,
} from './command.ts';
import {
  bytesFileValue,
  jsonFileValue,
  textValue,
  UsageError,
  type ValueReader,
  valueOrFile,
} from './values.ts';

/** Returns the example of an operation as command-line arguments. */
export function exampleArguments({ operation: { example, query, body, bodyContent } }: ApiRoute): string[] {
  return [
    ...argumentsFor(query.properties, example.query),
    ...argumentsFor(body?.properties ?? {}, body && example.body),
    // For example, `image.png` for image/png.
    ...(bodyContent ? ['--body-file', bodyContent[0]!.replace('/', '.')] : []),
  ];
}

function argumentsFor(properties: object, fields: unknown): string[] {
  return Object.entries((fields ?? {}) as Record<string, unknown>).flatMap(([field, value]) => {
    const name = optionName(field);
    const reader = valueReaderOf((properties as Record<string, object>)[field] ?? {});
    if (!reader) return [String(value) === 'true' ? `--${name}` : `--no-${name}`];
    if (value === null) return [`--no-${name}`];
    if (typeof value === 'string' && (!reader.isFile || reader.read(value) === value))
      return [`--${name}`, value];
    const joined = Array.isArray(value) ? value.join(',') : '';
    return [`--${name}`, isSameJson(reader.read(joined), value) ? joined : JSON.stringify(value)];
  });
}

const quote = (word: string): string =>
  /^[\w@:/.,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** An ETag, or a file that was written by --etag-file. */
const etag = valueOrFile<string>({ ...textValue('<etag>'), read: (given) => given.trim() });

/** Options that many operations share. */
const common = {
  output: minor(textValue('<file>'), 'The file to write. Default: standard output.'),
  all: minor(undefined, 'Reads all pages.'),
  yes: minor(undefined, 'Skips the confirmation.'),
  'body-file': minor(
    jsonFileValue,
    'A file with the whole request as JSON; other options override its fields. `-` is standard input.',
  ),
  'etag-file': minor(textValue('<file>'), 'Writes the ETag of the response to a file, for --if-match.'),
  'if-match': minor(
    etag,
    'The ETag from an earlier response, or @ and the name of a file with it. Fails if the object has changed since.',
  ),
  'idempotency-key': minor(
    textValue('<text>'),
    'If you repeat a request with this key within a day, it takes effect only once.',
  ),
} as const;

function minor(value: ValueReader<unknown> | undefined, about: string): CommandOption<unknown> {
  return { value, isRequired: false, isMinor: true, about };
}

/**
 * Returns the declared operations. They cannot run, because a declaration reads only the configuration of its
 * services.
 */
export const declaredRoutes = (): readonly ApiRoute[] => apiRoutes({ config: readConfig({}) } as Services);

export const operationCommands = (): readonly Command[] => declaredRoutes().map(operationCommand);

/** Turns an operation into a command: the path parameters in order, query and body as options. */
export function operationCommand(route: ApiRoute): Command {
  const { method, path, operation } = route;
  const { query, body, bodyContent, reply } = operation;
  const isStream = reply.content !== undefined;
  /** The path parameters with their names on the command line. */
  const places = Object.entries(operation.params.properties).map(([name, schema]) => ({
    name,
    called: pathParameterNameOf(path, name),
    value: valueReaderOf(schema) ?? textValue('<text>'),
  }));
  const options: Record<string, CommandOption<unknown>> = {
    ...optionsOfSchema(query),
    ...(body && { ...optionsOfSchema(body, 'body-file'), 'body-file': common['body-file'] }),
    ...(bodyContent && {
      'body-file': {
        value: bytesFileValue,
        isRequired: true,
        about: `The file to send: ${bodyContent.join(', ')}.`,
      },
    }),
    ...(isPaged(route) && { all: common.all }),
    ...(isStream && { output: common.output }),
    ...(method === 'POST' && { 'idempotency-key': common['idempotency-key'] }),
    ...(operation.isConditional && { 'if-match': common['if-match'] }),
    ...((operation.isConditional || (method === 'GET' && isOne(route))) && {
      'etag-file': common['etag-file'],
    }),
    ...(operation.isDestructive && { yes: common.yes }),
  };
  return {
    at: 'api',
    name: commandNameOf(route),
    summary: operation.summary,
    about: aboutOf(
      route,
      places.map(({ called }) => called),
    ),
    parameters: Object.fromEntries(places.map(({ called, value }) => [called, value])),
    options,
    async run(context, input) {
      const params = Object.fromEntries(places.map(({ name, called }) => [name, String(input[called])]));
      if (operation.isDestructive && input['yes'] !== true)
        await context.confirm([operation.summary, ...Object.values(params)].join(' '));
      const key = input['idempotency-key'] as string | undefined;
      const ifMatch = input['if-match'] as string | undefined;
      const request: ApiRequest = {
        name: route.name,
        params,
        query: textsOf(readFieldsFromOptions(query, input)),
        ...(body && {
          body: { ...(input['body-file'] as object | undefined), ...readFieldsFromOptions(body, input) },
        }),
        ...(bodyContent && { body: input['body-file'] as Buffer }),
        ...(key !== undefined && { idempotencyKey: key }),
        ...(ifMatch !== undefined && { ifMatch }),
        isStream,
      };
      if (isStream) return saveStream(context, request, input['output'] as string | undefined);
      if (input['all'] === true) return readAll(context, request, route, input['most'] as number | undefined);
      const sent = await context.api(request);
      if (input['etag-file'] !== undefined) await saveTag(sent, input['etag-file'] as string);
      // Without a response body, the ids that the operation worked on are printed.
      return isRecord(sent.value) ? sent.value : params;
    },
  };
}

async function saveTag({ tag }: ApiResponse, path: string): Promise<void> {
  if (tag === undefined) throw new ApiError('bad_request', 'The response has no ETag, so none was written.');
  await writeFile(path, `${tag}\n`);
}

/** Returns the fields of a query as strings, for a URL. */
const textsOf = (fields: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );

async function saveStream(
  { api, json, write, signal }: ApiCommandContext,
  request: ApiRequest,
  output: string | undefined,
): Promise<object | undefined> {
  if (json && output === undefined)
    throw new UsageError('The response is a file. With --json, set --output <file>.');
  const sent = await api(request);
  const stream = sent.stream!;
  if (output === undefined) {
    for await (const chunk of stream as AsyncIterable<Uint8Array | string>) await write(Buffer.from(chunk));
    return undefined;
  }
  return { output, bytes: await pour(stream, output, signal) };
}

/** Writes a file, and removes it if writing fails, because a partial file looks complete. */
async function pour(stream: Readable, path: string, signal: ApiCommandContext['signal']): Promise<number> {
  const file = (await open(path, 'w')).createWriteStream();
  try {
    await untilAborted(pipeline(stream, file, { ...(signal && { signal }) }), signal);
    return file.bytesWritten;
  } catch (error) {
    // A device, such as /dev/null, is not removed.
    if ((await lstat(path)).isFile()) await rm(path);
    throw error;
  }
}

type Page = { data: object[]; next_cursor?: string | null; pagination?: { total_pages: number } };

const isOne = (route: ApiRoute): boolean =>
  !isPaged(route) && route.operation.reply.content === undefined && route.path.includes(':id');

const isPaged = ({ operation: { query } }: ApiRoute): boolean =>
  'cursor' in query.properties || 'page' in query.properties;

/**
 * Reads all pages of a list, by cursor if the list has one, otherwise by page number.
 * @param enough the number of items after which reading stops.
 */
async function readAll(
  { api }: ApiCommandContext,
  request: ApiRequest,
  { operation }: ApiRoute,
  enough = Number.POSITIVE_INFINITY,
): Promise<{ data: object[] }> {
  const { properties } = operation.query;
  if (request.query?.['page'] !== undefined) throw new UsageError('--page and --all cannot be combined.');
  const most = (properties['per_page'] as { maximum?: number })?.maximum;
  const turn = 'cursor' in properties ? { cursor: '*' } : { page: '1' };
  const query: Record<string, string> = {
    ...(most !== undefined && { per_page: String(most) }),
    ...turn,
    ...request.query,
  };
  const data: object[] = [];
  for (;;) {
    const page = (await api({ ...request, query })).value as Page;
    data.push(...page.data);
    const { next_cursor: cursor, pagination } = page;
    if (data.length >= enough) return { data };
    if (cursor) query['cursor'] = cursor;
    else if (cursor === undefined && pagination && Number(query['page']) < pagination.total_pages)
      query['page'] = String(Number(query['page']) + 1);
    else return { data };
  }
}

/** Returns the help below the summary: the description, the permission and the example. */
function aboutOf(route: ApiRoute, places: readonly string[]): string {
  const { operation, method, path } = route;
  const given = exampleArguments(route).map(quote);
  const example = [commandNameOf(route), ...places.map((name) => `<${name}>`), ...given];
  return [
    ...(operation.description === undefined ? [] : [operation.description]),
    `${method} ${path} · requires the permission ${operation.permission}`,
    ...(given.length > 0 ? [`Example: ${example.join(' ')}`] : []),
  ].join('\n');
}
