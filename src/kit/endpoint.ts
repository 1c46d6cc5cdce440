import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { ErrorCode } from './errors.ts';
import { compileBody, compileQuery } from './validation.ts';

/** What an endpoint answers: a status and a body; `json` is a body that is JSON text already. */
export type Reply = { status: number; body?: object; json?: string };

/** Where a request acts: in a workspace, and there perhaps on some forms only (null: on all). */
export type EndpointScope = { workspaceId: string; formIds: readonly string[] | null };

/** A request after its shape was checked. */
export type EndpointRequest<P, Q, B> = EndpointScope & { params: P; query: Q; body: B };

/** What an endpoint is, apart from its method and path: for the server and for OpenAPI. */
export type Endpoint<Permission extends string = string> = {
  summary: string;
  description: string | undefined;
  permission: Permission;
  params: TObject;
  query: TObject;
  body: TObject | undefined;
  /** The success answers by status; a 204 has no schema. */
  replies: Readonly<Record<number, { description: string; schema?: TSchema }>>;
  /** Errors that do not follow from what it takes. */
  errors: readonly ErrorCode[];
  /** Checks the shape (400, 422), then runs. */
  handle(scope: EndpointScope, raw: { params: unknown; query: unknown; body: unknown }): Promise<Reply>;
};

const nothing = Type.Object({}, { additionalProperties: false });

/** The path parameter of everything that has an id. */
export const idParameter = Type.Object({ id: Type.String({ format: 'uuid' }) });

/**
 * Declares an endpoint of the API. Whoever calls it has been authenticated and acts within one workspace.
 * Order of checks (DESIGN 4.7): authentication, rate limit, shape (here), existence (in `run`).
 */
export function endpoint<
  const Permission extends string,
  P extends TObject = typeof nothing,
  Q extends TObject = typeof nothing,
  B extends TObject = typeof nothing,
>(definition: {
  summary: string;
  description?: string;
  permission: Permission;
  params?: P;
  query?: Q;
  body?: B;
  replies: Endpoint['replies'];
  errors?: Endpoint['errors'];
  run(request: EndpointRequest<Static<P>, Static<Q>, Static<B>>): Promise<Reply>;
}): Endpoint<Permission> {
  const params = definition.params ?? nothing;
  const query = definition.query ?? nothing;
  const readParams = compileQuery(params);
  const readQuery = compileQuery(query);
  const readBody = definition.body && compileBody(definition.body);
  return {
    summary: definition.summary,
    description: definition.description,
    permission: definition.permission,
    params,
    query,
    body: definition.body,
    replies: definition.replies,
    errors: definition.errors ?? [],
    handle: ({ workspaceId, formIds }, raw) =>
      definition.run({
        workspaceId,
        formIds,
        params: readParams(raw.params) as Static<P>,
        query: readQuery(raw.query) as Static<Q>,
        body: readBody ? readBody(raw.body) : ({} as Static<B>),
      }),
  };
}
