import type { Readable } from 'node:stream';
import { type Static, type TObject, Type } from 'typebox';
import { compileBody, compileQuery } from '#kit/validation.ts';
import type { Role } from '#workspaces/roles.ts';

/** A person who is signed in. */
export type ConsoleUser = {
  id: string;
  email: string;
  name: string;
  /** Signed in with a temporary password: nothing but the change of it is open. */
  mustChangePassword: boolean;
};

/** Whoever sends a request, signed in or not. */
export type Visitor = {
  /** What the peer's address counts as (#workspaces/address-key.ts). */
  address: string;
  /** The headers that sessions are made of: the cookies. */
  headers: Headers;
};

/** Who a request comes from, as far as the endpoint needed to know it. */
export type ConsoleCaller = {
  visitor: Visitor;
  user?: ConsoleUser;
  membership?: { workspaceId: string; role: Role };
};

/** What an endpoint answers: at most one of an object, JSON text and a stream. */
export type ConsoleReply = {
  status: number;
  headers?: Readonly<Record<string, string | string[]>>;
  body?: object;
  json?: string;
  stream?: Readable;
};

/** `visitor`: anyone; `person`: anyone signed in; a role: whoever has at least that role in the path's workspace. */
export type ConsoleNeed = 'visitor' | 'person' | Role;

export type RawRequest = { params: unknown; query: unknown; body: unknown };

export type ConsoleEndpoint = {
  needs: ConsoleNeed;
  /** Open also to whoever still has to change a temporary password. */
  isAlwaysOpen?: boolean;
  /** Bytes of its body, where they may be more than those of all others. */
  bodyLimit?: number;
  /** Checks the shape (400, 422), then runs. Whoever calls has made sure of `needs`. */
  handle(caller: ConsoleCaller, raw: RawRequest): Promise<ConsoleReply>;
};

export type ConsoleMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A route below /app/api. */
export type ConsoleRoute = readonly [method: ConsoleMethod, path: string, endpoint: ConsoleEndpoint];

const nothing = Type.Object({}, { additionalProperties: false });
type Nothing = typeof nothing;

/** What an endpoint takes; what it does not declare, it refuses. */
type Shape<P extends TObject, Q extends TObject, B extends TObject> = { params?: P; query?: Q; body?: B };
type Given<P extends TObject, Q extends TObject, B extends TObject> = {
  params: Static<P>;
  query: Static<Q>;
  body: Static<B>;
};

/**
 * An endpoint within a workspace; its path begins with `/workspaces/:workspace`, which `params` leaves out.
 * @param definition `role` is the least role that may call it.
 */
export function consoleEndpoint<
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TObject = Nothing,
>(
  definition: Shape<P, Q, B> & {
    role: Role;
    bodyLimit?: number;
    run(
      request: { workspaceId: string; user: ConsoleUser; role: Role } & Given<P, Q, B>,
    ): Promise<ConsoleReply>;
  },
): ConsoleEndpoint {
  const read = compileShape(definition);
  return {
    needs: definition.role,
    ...(definition.bodyLimit !== undefined && { bodyLimit: definition.bodyLimit }),
    handle: ({ user, membership }, raw) => {
      const { workspace: _, ...params } = raw.params as Record<string, unknown>;
      return definition.run({ user: user!, ...membership!, ...read({ ...raw, params }) });
    },
  };
}

/** An endpoint for a signed-in person, outside of any workspace. */
export function personEndpoint<
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TObject = Nothing,
>(
  definition: Shape<P, Q, B> & {
    isAlwaysOpen?: boolean;
    run(request: { user: ConsoleUser; visitor: Visitor } & Given<P, Q, B>): Promise<ConsoleReply>;
  },
): ConsoleEndpoint {
  const read = compileShape(definition);
  return {
    needs: 'person',
    isAlwaysOpen: definition.isAlwaysOpen ?? false,
    handle: ({ user, visitor }, raw) => definition.run({ user: user!, visitor, ...read(raw) }),
  };
}

/** An endpoint for people who are not signed in yet. */
export function visitorEndpoint<B extends TObject = Nothing>(definition: {
  body?: B;
  run(request: { visitor: Visitor; body: Static<B> }): Promise<ConsoleReply>;
}): ConsoleEndpoint {
  const read = compileShape<Nothing, Nothing, B>(definition);
  return {
    needs: 'visitor',
    handle: ({ visitor }, raw) => definition.run({ visitor, body: read(raw).body }),
  };
}

function compileShape<P extends TObject, Q extends TObject, B extends TObject>(
  shape: Shape<P, Q, B>,
): (raw: RawRequest) => Given<P, Q, B> {
  const readParams = compileQuery(shape.params ?? nothing);
  const readQuery = compileQuery(shape.query ?? nothing);
  const readBody = compileBody(shape.body ?? nothing);
  return (raw) =>
    ({
      params: readParams(raw.params ?? {}),
      query: readQuery(raw.query ?? {}),
      body: readBody(raw.body ?? {}),
    }) as Given<P, Q, B>;
}
