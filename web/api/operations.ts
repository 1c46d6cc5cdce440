import type { ConditionalOperationName, InputOf, ReplyOf } from '#app/operations/operations.ts';
import { type OperationName, routeOf, type SessionOperationName } from '#app/operations/routes.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { markChangedAfterCall } from './changes.ts';
import {
  ApiProblem,
  type ConcurrentChange,
  checkDownload,
  describeDifferences,
  findReadOperation,
  formatQuery,
  isConcurrentChangeError,
  type RequestOptions,
  requestJson,
} from './client.ts';

type AnyInput = {
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
};

/**
 * Sends files unchanged and everything else as JSON, even without content, because forms on other sites
 * cannot send JSON.
 */
const contentOf = (body: object = {}): { type: string; body: string | Blob } =>
  body instanceof Blob ? { type: body.type, body } : { type: 'application/json', body: JSON.stringify(body) };

function requestOf(
  name: OperationName | SessionOperationName,
  input: AnyInput,
): { address: string; method: string } {
  const { params = {}, query: parameters = {} } = input;
  const { method, path } = routeOf(name);
  const filled = path.replaceAll(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(params[parameter]!));
  return { address: filled + formatQuery(parameters), method };
}

function send<Reply>(
  base: string,
  name: OperationName | SessionOperationName,
  input: AnyInput,
  options: RequestOptions,
): Promise<Reply> {
  const { address, method } = requestOf(name, input);
  const content = method !== 'GET' && contentOf(input.body);
  return markChangedAfterCall(name, requestJson(base + address, { ...options, method, ...content }));
}

const inWorkspace = (id: string) => ({ 'X-Workspace-ID': id });

/** The state of a thing that a person saw before they changed it. */
export type ChangePrecondition = { readonly etag: string } | { readonly updated_at: string };
type OptionalPrecondition = RequestOptions & { seen?: ChangePrecondition };

/**
 * Requires `seen` for operations that several people can use on one thing, so that no change is overwritten.
 */
type Rest<Name extends OperationName> = Name extends ConditionalOperationName
  ? [options: RequestOptions & { seen: ChangePrecondition }]
  : [options?: RequestOptions];

const ifMatch = (seen: ChangePrecondition): { 'If-Match': string } => ({
  'If-Match': 'etag' in seen ? seen.etag : formatEtag(new Date(seen.updated_at)),
});

/**
 * Calls an API operation in a workspace as the signed-in person.
 * @param rest `seen`, for a change: if another person changed the thing first, nothing is changed (isStale).
 * @throws ApiProblem.
 */
export async function callOperation<Name extends OperationName>(
  workspaceId: string,
  name: Name,
  input: InputOf<Name>,
  ...rest: Rest<Name>
): Promise<ReplyOf<Name>> {
  const { seen, ...options }: OptionalPrecondition = rest[0] ?? {};
  try {
    return await send('/api/v1', name, input as AnyInput, {
      ...options,
      headers: { ...inWorkspace(workspaceId), ...(seen && ifMatch(seen)) },
    });
  } catch (error) {
    if (seen && isConcurrentChangeError(error))
      error.meanwhile = await findMeanwhile(workspaceId, name, input as AnyInput, { seen, error });
    throw error;
  }
}

/**
 * Returns the new state and who changed it, if the person may read them. Returns undefined for things that
 * report conflicts in other ways.
 */
async function findMeanwhile(
  workspaceId: string,
  name: OperationName,
  { params = {} }: AnyInput,
  { seen, error }: { seen: ChangePrecondition; error: ApiProblem },
): Promise<ConcurrentChange | undefined> {
  const reading = Object.keys(seen).length > 1 ? findReadOperation(routeOf(name).path) : undefined;
  if (!reading) return undefined;
  const id = String(params['id'] ?? '');
  // Does not delay the error message by more than three seconds.
  const signal = AbortSignal.timeout(3_000);
  const headers = inWorkspace(workspaceId);
  // Leaves out what cannot be read or what the person may not read.
  const unknown = (): undefined => undefined;
  const [now, last] = await Promise.all([
    send<Readonly<Record<string, object>>>('/api/v1', reading.name, { params }, { headers, signal }).catch(
      unknown,
    ),
    (reading.thing === 'submission'
      ? findLastEdit(workspaceId, id, signal)
      : findLastChange(workspaceId, id, { error, signal })
    ).catch(unknown),
  ]);
  return {
    thing: reading.thing,
    by: last?.by,
    at: last?.at,
    differences: now ? describeDifferences(seen, now[reading.thing] ?? now) : [],
  };
}

/**
 * Finds the last successful change in the audit log. Results are written a moment later, so the refused
 * request itself may still look unfinished.
 */
async function findLastChange(
  workspaceId: string,
  id: string,
  { error: { requestId }, signal }: { error: ApiProblem; signal: AbortSignal },
): Promise<{ by?: string; at: string } | undefined> {
  const { data } = await callOperation(
    workspaceId,
    'listAuditLog',
    { query: { thing_id: id, per_page: 10 } },
    { signal },
  );
  const line = data.find(
    ({ status, method, request_id }) =>
      method !== 'GET' && request_id !== requestId && (status === null || status < 300),
  );
  return line && { at: line.at, ...(line.actor.name !== null && { by: line.actor.name }) };
}

async function findLastEdit(
  workspaceId: string,
  id: string,
  signal: AbortSignal,
): Promise<{ by?: string; at: string } | undefined> {
  const { data } = await callOperation(workspaceId, 'getSubmissionTimeline', { params: { id } }, { signal });
  const change = data.find((entry) => 'changes' in entry);
  return change && { at: change.at, ...(change.by !== null && { by: change.by }) };
}

/**
 * Calls an operation that needs a browser session.
 * @throws ApiProblem.
 */
export const callSessionOperation = <Name extends SessionOperationName>(
  name: Name,
  input: InputOf<Name>,
  options: RequestOptions = {},
): Promise<ReplyOf<Name>> => send('/app/api', name, input as AnyInput, options);

/**
 * Returns the query options of an operation that reads data. The key begins with the operation's name
 * (changes.ts).
 */
export const operationQuery = <Name extends OperationName>(
  workspaceId: string,
  name: Name,
  input: InputOf<Name>,
) => ({
  queryKey: [name, workspaceId, input] as const,
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    send<ReplyOf<Name>>('/api/v1', name, input as AnyInput, { signal, headers: inWorkspace(workspaceId) }),
});

/** Returns the query options of a session operation that reads data. */
export const sessionOperationQuery = <Name extends SessionOperationName>(
  name: Name,
  input: InputOf<Name>,
) => ({
  queryKey: [name, input] as const,
  queryFn: ({ signal }: { signal: AbortSignal }) => callSessionOperation(name, input, { signal }),
});

/**
 * Downloads a file from an operation. The browser writes it to disk while it arrives.
 * @throws ApiProblem. A plain link would not show why a download failed.
 */
export async function download<Name extends OperationName>(
  workspaceId: string,
  name: Name,
  input: InputOf<Name>,
): Promise<void> {
  const { params, query: more } = input as AnyInput;
  const { address } = requestOf(name, {
    ...(params && { params }),
    query: { ...more, workspace_id: workspaceId },
  });
  const link = document.createElement('a');
  link.href = `/api/v1${address}`;
  await checkDownload(link.href);
  link.download = '';
  // The page sends no referrer, and some browsers send no other sign that the request comes from this site.
  link.referrerPolicy = 'same-origin';
  document.body.append(link);
  link.click();
  link.remove();
}

/** The image types that the service stores (src/forms/images). */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
const mostBytes = 10 * 1024 * 1024;

/**
 * Uploads an image unchanged and returns its ID. Problems that the browser can detect are reported with the
 * server's messages.
 * @throws ApiProblem with a message for the user.
 */
export async function uploadImage(workspaceId: string, file: File): Promise<string> {
  if (!imageTypes.some((type) => type === file.type))
    throw new ApiProblem(415, { message: 'This file is not a PNG, JPEG or WebP image.' });
  if (file.size > mostBytes)
    throw new ApiProblem(413, { message: 'The image is larger than 10 MB. Choose a smaller one.' });
  return (await callOperation(workspaceId, 'createImage', { body: file })).id;
}
