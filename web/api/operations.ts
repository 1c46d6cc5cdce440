import type { InputOf, ReplyOf } from '#app/operations.ts';
import { type OperationName, routeOf } from '#app/routes.ts';
import { type Options, query, request, requestFile } from './client.ts';

type AnyInput = {
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
};

/** A file goes as it is, all else as JSON. */
const contentOf = (body: object = {}): { type: string; body: string | Blob } =>
  body instanceof Blob ? { type: body.type, body } : { type: 'application/json', body: JSON.stringify(body) };

/** The address of an operation below /api/v1. */
function addressOf(path: string, { params = {}, query: parameters = {} }: AnyInput): string {
  const place = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!));
  return `/api/v1${place}${query(parameters)}`;
}

/**
 * Calls an operation of the API in a workspace, as the person who is signed in.
 * @throws ApiProblem.
 */
export function call<Name extends OperationName>(
  workspaceId: string,
  name: Name,
  input: InputOf<Name>,
  options: Options = {},
): Promise<ReplyOf<Name>> {
  const { method, path } = routeOf(name);
  const given = input as AnyInput;
  return request(addressOf(path, given), {
    ...options,
    method,
    headers: { 'X-Workspace-ID': workspaceId, ...options.headers },
    ...(method !== 'GET' && contentOf(given.body)),
  });
}

/**
 * The file that an operation answers with, as the person who is signed in. A link could not say in which workspace.
 * @throws ApiProblem.
 */
export function callForFile<Name extends OperationName>(
  workspaceId: string,
  name: Name,
  input: InputOf<Name>,
): Promise<File> {
  const { method, path } = routeOf(name);
  return requestFile(addressOf(path, input as AnyInput), {
    method,
    headers: { 'X-Workspace-ID': workspaceId },
  });
}
