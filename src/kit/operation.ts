import type { Readable } from 'node:stream';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Unchanged } from './conditional.ts';
import { ApiError, type ErrorCode } from './errors.ts';
import { compileReply, type JsonList, type JsonText } from './http.ts';
import { compileBody, compileQuery } from './validation.ts';

/** Who asks: an API key, a person who is signed in, or the operator at the command line. */
export type Actor = {
  readonly kind: 'key' | 'person' | 'operator';
  /** Of the key or the person; `operator` has none. */
  readonly id: string;
  /** Of a person: the session that they are signed in with. */
  readonly sessionId?: string;
};

/** Where a request comes from. */
export type Origin = {
  address: string | null;
  /** How the browser or the program calls itself. */
  agent: string | null;
};

/** What is done, by whom, from where: no answers and no secrets. */
export type AuditLine = {
  workspaceId: string;
  actor: Actor;
  origin: Origin | undefined;
  operation: string;
  method: string;
  /** Below /api/v1, with the ids in it and nothing else. */
  path: string;
  /** What it is done to, where that is there already. */
  thingId: string | undefined;
  requestId: string | undefined;
};

/** Where a request acts, for whom, and what it may do there. */
export type Scope = {
  workspaceId: string;
  /** The only forms within reach, with their submissions; null: all of the workspace. */
  formIds: readonly string[] | null;
  actor: Actor;
  /** Whether the caller has a permission beside the one that the operation takes. */
  may: (permission: string) => boolean;
  /** For an operation that writes its own entry: its line in the audit log. */
  line?: AuditLine;
};

/** Whoever sends a request, signed in or not. */
export type Visitor = {
  /** What the peer's address counts as (#workspaces/address-key.ts). */
  address: string;
  /** The address itself. */
  ip: string;
  /** The headers that sessions are made of: the cookies, and how the browser calls itself. */
  headers: Headers;
};

/** A person who is signed in. */
export type Person = {
  id: string;
  email: string;
  name: string;
  /** Signed in with a temporary password: nothing is open but what a newcomer may. */
  mustChangePassword: boolean;
  /** Has a second factor and has not shown it yet: nothing is open but that step. */
  awaitsSecondStep: boolean;
  /** When the account is gone, while it is being deleted: nothing is open but to come back. */
  endsAt: Date | null;
  /** When the second step was taken in this session; null: it was signed in to by a password alone. */
  secondFactorAt: Date | null;
  sessionId: string;
  signedInAt: Date;
};

/**
 * Who calls an operation that takes no permission, because it is of no workspace and only the session of a browser can
 * mean it. `visitor`: anyone; `person`: anyone signed in; `newcomer`: also who has to change a temporary password first;
 * `leaving`: also who is having their account deleted; `halfway`: also who has yet to take the second step of the sign-in.
 */
export type OwnCaller = 'visitor' | 'halfway' | 'leaving' | 'newcomer' | 'person';

/** What is known of who asks. */
export type ScopeOf<Own extends OwnCaller | undefined> = Own extends undefined
  ? Scope
  : Own extends 'visitor'
    ? { visitor: Visitor }
    : { visitor: Visitor; person: Person };

/** What an operation answers when it succeeds: JSON by a schema, a stream of a content type, or nothing. */
export type ReplyShape = {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  readonly schema?: TSchema;
  /** The content types that a stream may have. */
  readonly content?: readonly string[];
};

/** What goes with every answer. */
type Beside = {
  headers?: Readonly<Record<string, string | string[]>>;
  /** What it was read at, for the ETag of what can be changed (conditional.ts). */
  tag?: string;
};

/** What `run` may return: the content that the declared reply says, and nothing else. */
type ContentOf<R extends ReplyShape> = R extends { schema: infer S extends TSchema }
  ? Beside &
      ({ body: Static<S>; json?: never } | { json: JsonText<Static<S>> | JsonList<Static<S>>; body?: never })
  : R extends { content: readonly string[] }
    ? Beside & { stream: Readable }
    : Beside | void;

/** Any answer, as it goes to the wire. */
export type Answer = Beside & {
  status: number;
  body?: unknown;
  json?: string | JsonList<unknown>;
  stream?: Readable;
  /** It was answered before, under the same Idempotency-Key. */
  isReplayed?: true;
};

/** What came over the wire, before its shape was checked. */
type RawInput = { params: unknown; query: unknown; body: unknown; unchanged?: Unchanged };

/** A request after its shape was checked. */
type Given<P, Q, B, R, Own extends OwnCaller | undefined> = ScopeOf<Own> & {
  params: P;
  query: Q;
  body: B;
  /** Never there: it lets TypeScript know the reply before it reads `run`, so that a word in a body stays that word. */
  readonly reply?: R;
  /** If-Match: a change of what has become another meanwhile is refused (conditional.ts). */
  unchanged: Unchanged;
};

/** Static types of an operation, for its callers in TypeScript; never there at run time. */
type Types<P, Q, B, Reply> = { readonly types?: { params: P; query: Q; body: B; reply: Reply } };

/** What the audit log records of an operation that changes something, or takes data out. */
export type AuditPolicy =
  | 'entry'
  /** An entry if a person asks. Programs read all day. */
  | 'entry by people'
  /** An entry that the operation itself writes: with the statement that does the work, or to the log of an account. */
  | 'own entry'
  /**
   * An entry with the difference between two replies of an operation that reads the thing, or with its first reply.
   * `part` is the field of the reply that has the thing.
   */
  | { readonly changes: string; readonly part?: string }
  | { readonly creates: string; readonly part?: string }
  /** An entry with these fields of the body. */
  | { readonly fields: readonly string[] }
  /** No entry, and why. */
  | { readonly none: string };

/** What an operation is, apart from its name, method and path: all that draws on the table reads this. */
export type Operation<
  Permission extends string | undefined = string,
  P = unknown,
  Q = unknown,
  B = unknown,
  Reply = unknown,
  Own extends OwnCaller | undefined = undefined,
> = Types<P, Q, B, Reply> & {
  readonly summary: string;
  readonly description: string | undefined;
  readonly permission: Permission;
  /** Who calls it, where it takes no permission. */
  readonly caller: Own;
  readonly params: TObject;
  readonly query: TObject;
  readonly body: TObject | undefined;
  /** The content types of a body that is a file, sent as it is; undefined: a body is JSON. */
  readonly bodyContent: readonly string[] | undefined;
  /** A body may be left out. */
  readonly isBodyOptional: boolean;
  /** Bytes of its body, where they may be more than those of all others. */
  readonly bodyLimit: number | undefined;
  readonly reply: ReplyShape;
  /** Errors that do not follow from what it takes. */
  readonly errors: readonly ErrorCode[];
  /** Takes If-Match, and answers 412 when what it changes was changed meanwhile. */
  readonly isConditional: boolean;
  /** The path at which the ETag is read that it takes, where that is neither its own nor one that it goes through. */
  readonly conditionOf: string | undefined;
  /** What it takes away cannot be brought back. */
  readonly isDestructive: boolean;
  /** Required if it changes something (app/audit-policy.test.ts). */
  readonly audit: AuditPolicy | undefined;
  /** That it is going, and when, as days: every answer and the document say so. */
  readonly deprecated: Deprecation | undefined;
  /** Its two words on the command line, where the rule for all (app/call-operation.ts) reads badly. */
  readonly command: string | undefined;
  /** A request as it may be sent: the document shows it, and a test sends it to a service. */
  readonly example: { readonly query?: unknown; readonly body?: unknown };
  /** Checks the shape (400, 422), then runs. */
  handle(scope: ScopeOf<Own>, raw: RawInput): Promise<Answer>;
  /** @throws Error when an answer is not as the reply is declared: a fault of ours, which tests bring to light. */
  holdReply(answer: Answer): void;
};

/** Since which day nobody should begin to use an operation, and from which on there is none: `2027-01-31`. */
export type Deprecation = { readonly since: string; readonly until: string };

const nothing = Type.Object({}, { additionalProperties: false });
type Nothing = typeof nothing;

/** The path parameter of everything that has an id. */
export const idParameter = Type.Object({ id: Type.String({ format: 'uuid' }) });

/** A body is JSON by its schema, or the bytes of a file. */
type BodyOf<B extends TObject, Content> = Content extends readonly string[] ? Buffer : Static<B>;

type JsonOf<R extends ReplyShape> = R extends { schema: infer S extends TSchema } ? Static<S> : undefined;

/** Without a declared need an operation cannot be written. */
type Needs<Permission, Own> =
  | { permission: Permission; caller?: never }
  | { permission?: never; caller: Own };

/**
 * Declares an operation, once for all who call it: the API's keys, the console, the command line, OpenAPI and what is
 * drawn from it. Whoever calls has been told apart, and acts within one workspace, or for themselves (`caller`).
 * Order of checks: who asks (401), how often (429), whether it may (403), shape (400, 422), existence (404, in `run`).
 */
export function operation<
  const R extends ReplyShape,
  const Permission extends string | undefined = undefined,
  const Own extends OwnCaller | undefined = undefined,
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TObject = Nothing,
  const Content extends readonly string[] | undefined = undefined,
  const Conditional extends boolean = false,
>(
  definition: Needs<Permission, Own> & {
    summary: string;
    description?: string;
    params?: P;
    query?: Q;
    body?: B;
    bodyContent?: Content;
    isBodyOptional?: boolean;
    bodyLimit?: number;
    reply: R;
    errors?: readonly ErrorCode[];
    isConditional?: Conditional;
    conditionOf?: string;
    isDestructive?: boolean;
    audit?: AuditPolicy;
    deprecated?: Deprecation;
    command?: string;
    example?: { query?: Static<Q>; body?: BodyOf<B, Content> };
    run(request: Given<Static<P>, Static<Q>, BodyOf<B, Content>, R, Own>): Promise<ContentOf<R>>;
  },
): Operation<Permission, Static<P>, Static<Q>, BodyOf<B, Content>, JsonOf<R>, Own> & {
  readonly isConditional: Conditional;
} {
  const params = definition.params ?? nothing;
  const query = definition.query ?? nothing;
  const content = definition.bodyContent;
  // Compiled at the first request: the command line declares all of them, and runs one.
  const compile = () => ({
    params: compileQuery(params),
    query: compileQuery(query),
    body: content ? (body: unknown) => readFile(body, content) : compileBody(definition.body ?? nothing),
  });
  let read: ReturnType<typeof compile> | undefined;
  const needsBody = definition.body !== undefined && !definition.isBodyOptional;
  return {
    summary: definition.summary,
    description: definition.description,
    permission: definition.permission as Permission,
    caller: definition.caller as Own,
    params,
    query,
    body: definition.body,
    bodyContent: content,
    isBodyOptional: definition.isBodyOptional ?? false,
    bodyLimit: definition.bodyLimit,
    reply: definition.reply,
    errors: definition.errors ?? [],
    isConditional: (definition.isConditional ?? false) as Conditional,
    conditionOf: definition.conditionOf,
    isDestructive: definition.isDestructive ?? false,
    audit: definition.audit,
    deprecated: definition.deprecated,
    command: definition.command,
    example: definition.example ?? {},
    holdReply: compileReply(definition.reply),
    async handle(scope, raw) {
      read ??= compile();
      const answer = await definition.run({
        ...scope,
        params: read.params(raw.params ?? {}) as Static<P>,
        query: read.query(raw.query ?? {}) as Static<Q>,
        body: read.body(raw.body ?? (needsBody ? undefined : {})) as BodyOf<B, Content>,
        unchanged: raw.unchanged ?? null,
      });
      return { status: definition.reply.status, ...answer };
    },
  };
}

/** @throws ApiError unsupported_media_type for a body of no type that is taken. */
function readFile(body: unknown, types: readonly string[]): Buffer {
  if (!Buffer.isBuffer(body))
    throw new ApiError('unsupported_media_type', `Send a file: ${types.join(', ')}.`);
  return body;
}
