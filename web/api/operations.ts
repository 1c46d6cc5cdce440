import type { ConditionalName, InputOf, ReplyOf } from '#app/operations/operations.ts';
import { type OperationName, type OwnName, routeOf } from '#app/operations/routes.ts';
import { tagOf } from '#kit/replies/tag-of.ts';
import { noteChange } from './changes.ts';
import { type ApiProblem, isStale, type Options, query, request, requestNothing } from './client.ts';
import { differencesOf, type Meanwhile, readingOf } from './meanwhile.ts';

type AnyInput = {
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
};

/** A file goes as it is, all else as JSON, with or without content: no form of another site can send that. */
const contentOf = (body: object = {}): { type: string; body: string | Blob } =>
  body instanceof Blob ? { type: body.type, body } : { type: 'application/json', body: JSON.stringify(body) };

function asked(name: OperationName | OwnName, input: AnyInput): { address: string; method: string } {
  const { params = {}, query: parameters = {} } = input;
  const { method, path } = routeOf(name);
  const place = path.replaceAll(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(params[parameter]!));
  return { address: place + query(parameters), method };
}

function send<Reply>(
  base: string,
  name: OperationName | OwnName,
  input: AnyInput,
  options: Options,
): Promise<Reply> {
  const { address, method } = asked(name, input);
  const content = method !== 'GET' && contentOf(input.body);
  return noteChange(name, request(base + address, { ...options, method, ...content }));
}

const inWorkspace = (id: string) => ({ 'X-Workspace-ID': id });

/** A thing as somebody looked at it, when they decided to change it. */
export type Seen = { readonly etag: string } | { readonly updated_at: string };
type MaybeSeen = Options & { seen?: Seen };

/** What can be changed by two is never changed without saying what it was changed from. */
type Rest<Name extends OperationName> = Name extends ConditionalName
  ? [options: Options & { seen: Seen }]
  : [options?: Options];

const ifMatch = (seen: Seen): { 'If-Match': string } => ({
  'If-Match': 'etag' in seen ? seen.etag : tagOf(new Date(seen.updated_at)),
});

/**
 * Calls an operation of the API in a workspace, as the person who is signed in.
 * @param rest for a change, what it was made on: where somebody else was faster, nothing is changed (isStale).
 * @throws ApiProblem.
 */
export async function call<Name extends OperationName>(
  workspaceId: string,
  name: Name,
  input: InputOf<Name>,
  ...rest: Rest<Name>
): Promise<ReplyOf<Name>> {
  const { seen, ...options }: MaybeSeen = rest[0] ?? {};
  try {
    return await send('/api/v1', name, input as AnyInput, {
      ...options,
      headers: { ...inWorkspace(workspaceId), ...(seen && ifMatch(seen)) },
    });
  } catch (error) {
    if (seen && isStale(error))
      error.meanwhile = await findMeanwhile(workspaceId, name, input as AnyInput, { seen, error });
    throw error;
  }
}

/** What it has become, and whose doing that was, for those who may know. Undefined for what has a way of its own to say it. */
async function findMeanwhile(
  workspaceId: string,
  name: OperationName,
  { params = {} }: AnyInput,
  { seen, error }: { seen: Seen; error: ApiProblem },
): Promise<Meanwhile | undefined> {
  const reading = Object.keys(seen).length > 1 ? readingOf(routeOf(name).path) : undefined;
  if (!reading) return undefined;
  const id = String(params['id'] ?? '');
  // Whoever waits to hear why nothing was saved does not wait for these.
  const signal = AbortSignal.timeout(3_000);
  const headers = inWorkspace(workspaceId);
  // What cannot be read, or not by this person, is not said.
  const unknown = (): undefined => undefined;
  const [now, last] = await Promise.all([
    send<Readonly<Record<string, object>>>('/api/v1', reading.name, { params }, { headers, signal }).catch(
      unknown,
    ),
    (reading.thing === 'submission'
      ? lastEdit(workspaceId, id, signal)
      : lastDeed(workspaceId, id, { error, signal })
    ).catch(unknown),
  ]);
  return {
    thing: reading.thing,
    by: last?.by,
    at: last?.at,
    differences: now ? differencesOf(seen, now[reading.thing] ?? now) : [],
  };
}

/** How a deed ended is written a moment after it; the request that was refused just now may still stand there as begun. */
async function lastDeed(
  workspaceId: string,
  id: string,
  { error: { requestId }, signal }: { error: ApiProblem; signal: AbortSignal },
): Promise<{ by?: string; at: string } | undefined> {
  const { data } = await call(
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

async function lastEdit(
  workspaceId: string,
  id: string,
  signal: AbortSignal,
): Promise<{ by?: string; at: string } | undefined> {
  const { data } = await call(workspaceId, 'getSubmissionTimeline', { params: { id } }, { signal });
  const change = data.find((entry) => 'changes' in entry);
  return change && { at: change.at, ...(change.by !== null && { by: change.by }) };
}

/**
 * Calls an operation that only the session of a browser can mean.
 * @throws ApiProblem.
 */
export const callOwn = <Name extends OwnName>(
  name: Name,
  input: InputOf<Name>,
  options: Options = {},
): Promise<ReplyOf<Name>> => send('/app/api', name, input as AnyInput, options);

/** The options of a query that reads by one operation. Its key begins with the operation's name (changes.ts). */
export const readQuery = <Name extends OperationName>(
  workspaceId: string,
  name: Name,
  input: InputOf<Name>,
) => ({
  queryKey: [name, workspaceId, input] as const,
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    send<ReplyOf<Name>>('/api/v1', name, input as AnyInput, { signal, headers: inWorkspace(workspaceId) }),
});

/** The same for an operation of the session. */
export const readSessionQuery = <Name extends OwnName>(name: Name, input: InputOf<Name>) => ({
  queryKey: [name, input] as const,
  queryFn: ({ signal }: { signal: AbortSignal }) => callOwn(name, input, { signal }),
});

/**
 * Downloads the file that an operation answers with: the browser writes it to its disk while it comes.
 * @throws ApiProblem, as a link that is refused would say nothing.
 */
export async function download<Name extends OperationName>(
  workspaceId: string,
  name: Name,
  input: InputOf<Name>,
): Promise<void> {
  const { params, query: more } = input as AnyInput;
  const { address } = asked(name, {
    ...(params && { params }),
    query: { ...more, workspace_id: workspaceId },
  });
  const link = document.createElement('a');
  link.href = `/api/v1${address}`;
  await requestNothing(link.href);
  link.download = '';
  // The page itself sends none: browsers that do not say which site asks would not say that it is this one.
  link.referrerPolicy = 'same-origin';
  document.body.append(link);
  link.click();
  link.remove();
}
