import { Readable } from 'node:stream';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { IfMatchTimes } from './conditional.ts';
import { ApiError, type ErrorCode } from './errors.ts';
import { compileReplyCheck, type JsonList, type JsonText } from './http.ts';
import { compileBody, compileQuery, strictObject, uuidSchema } from './validation.ts';

/** The caller: an API key, a signed-in person, or the operator at the command line. */
export type Actor = {
  readonly kind: 'key' | 'person' | 'operator';
  /** The id of the key or person; empty for `operator`. */
  readonly id: string;
  /** The session of a signed-in person. */
  readonly sessionId?: string;
};

export type ClientInfo = {
  address: string | null;
  /** The User-Agent of the browser or program. */
  agent: string | null;
};

/** An audit entry: who does what, and from where. It contains no answers and no secrets. */
export type AuditEntry = {
  workspaceId: string;
  actor: Actor;
  origin: ClientInfo | undefined;
  operation: string;
  method: string;
  /** The path below /api/v1 with its ids, without a query. */
  path: string;
  /** The id of the changed resource, if it already exists. */
  thingId: string | undefined;
  requestId: string | undefined;
};

/** The workspace, caller and permissions of a request. */
export type RequestScope = {
  workspaceId: string;
  /** The only forms that the caller can access, with their submissions; null: all forms. */
  formIds: readonly string[] | null;
  actor: Actor;
  /** Returns whether the caller has a permission in addition to the one that the operation requires. */
  may: (permission: string) => boolean;
  /** Whether respondents can sign in: the instance has an identity provider. */
  canSignIn?: boolean | undefined;
  /** Whether the instance sends emails. */
  sendsEmail?: boolean | undefined;
  /** For an operation that writes its own entry: its line in the audit log. */
  line?: AuditEntry;
};

export type RequestSender = {
  /** The address as rate limits count it (#workspaces/accounts/users.ts). */
  address: string;
  /** The full IP address. */
  ip: string;
  /** The headers that sessions need: cookies and User-Agent. */
  headers: Headers;
};

export type Person = {
  id: string;
  email: string;
  name: string;
  /** Signed in with a temporary password. Only operations for a `newcomer` are available. */
  mustChangePassword: boolean;
  /** The two-factor code is missing. Only the two-factor step is available. */
  awaitsSecondStep: boolean;
  /**
   * When the account will be deleted; null if it is not scheduled for deletion. Until then it can only be
   * restored.
   */
  endsAt: Date | null;
  /** When this session passed two-factor; null: it signed in by password alone. */
  secondFactorAt: Date | null;
  sessionId: string;
  signedInAt: Date;
};

/**
 * The callers of an operation without a permission. It belongs to no workspace and needs the session of a
 * browser. `visitor`: anyone; `person`: a signed-in person; `newcomer`: also before a temporary password is
 * changed; `leaving`: also while the account is being deleted; `halfway`: also before the two-factor step.
 */
export type SessionCaller = 'visitor' | 'halfway' | 'leaving' | 'newcomer' | 'person';

/** What an operation knows about its caller. */
export type ScopeOf<Own extends SessionCaller | undefined> = Own extends undefined
  ? RequestScope
  : Own extends 'visitor'
    ? { visitor: RequestSender }
    : { visitor: RequestSender; person: Person };

/** The success response of an operation: JSON by a schema, a stream of a content type, or nothing. */
export type ReplyShape = {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  readonly schema?: TSchema;
  /** The possible content types of a stream. */
  readonly content?: readonly string[];
};

/** Optional parts of every response. */
type ResponseExtras = {
  headers?: Readonly<Record<string, string | string[]>>;
  /** The ETag of the current state, for resources that can be changed (conditional.ts). */
  tag?: string;
};

/** The result of `run`, which must match the declared reply. */
type ContentOf<R extends ReplyShape> = R extends { schema: infer S extends TSchema }
  ? ResponseExtras &
      ({ body: Static<S>; json?: never } | { json: JsonText<Static<S>> | JsonList<Static<S>>; body?: never })
  : R extends { content: readonly string[] }
    ? ResponseExtras & { stream: Readable }
    : ResponseExtras | void;

/** A response before it is sent. */
export type OperationResponse = ResponseExtras & {
  status: number;
  body?: unknown;
  json?: string | JsonList<unknown>;
  stream?: Readable;
  /** Repeats an earlier response for the same Idempotency-Key. */
  isReplayed?: true;
};

/** A request before validation. */
type RawInput = {
  params: unknown;
  query: unknown;
  body: unknown;
  unchanged?: IfMatchTimes;
  /** Checks access to what the parameters name, after their validation. */
  check?: ((params: unknown) => void) | undefined;
};

/** A request after validation. */
type OperationRequest<P, Q, B, R, Own extends SessionCaller | undefined> = ScopeOf<Own> & {
  params: P;
  query: Q;
  body: B;
  /** Never set. It tells TypeScript the reply before `run`, so that literal types in a body are kept. */
  readonly reply?: R;
  /** If-Match: the change is rejected if the resource was changed in the meantime (conditional.ts). */
  unchanged: IfMatchTimes;
};

/** The static types of an operation, for TypeScript callers. Never set at run time. */
type Types<P, Q, B, Reply> = { readonly types?: { params: P; query: Q; body: B; reply: Reply } };

/** What the audit log records of an operation that changes something, or exports data. */
export type AuditPolicy =
  | 'entry'
  /** An entry if the caller is a person. Programs read all day, so their reads are not recorded. */
  | 'entry by people'
  /** An entry that the operation itself writes: with the statement that does the work, or to the log of an account. */
  | 'own entry'
  /**
   * An entry with the difference between two responses of an operation that reads the resource, or with its
   * first response. `part` is the field of the response that contains the resource.
   */
  | { readonly changes: string; readonly part?: string }
  | { readonly creates: string; readonly part?: string }
  /** An entry with these fields of the body. */
  | { readonly fields: readonly string[] }
  /** No entry, and why. */
  | { readonly none: string };

/** An operation without its name, method and path. All users of the table of operations read this. */
export type Operation<
  Permission extends string | undefined = string,
  P = unknown,
  Q = unknown,
  B = unknown,
  Reply = unknown,
  Own extends SessionCaller | undefined = undefined,
> = Types<P, Q, B, Reply> & {
  readonly summary: string;
  readonly description?: string;
  readonly permission: Permission;
  /** The kind of caller, if the operation needs no permission. */
  readonly caller: Own;
  readonly params: TObject;
  readonly query: TObject;
  readonly body?: TObject;
  /** The content types of a file body; undefined: the body is JSON. */
  readonly bodyContent?: readonly string[] | undefined;
  /** Whether the file is passed on while it arrives, and never held in memory. */
  readonly streamsBody?: boolean;
  readonly isBodyOptional: boolean;
  /** The maximum size of the body in bytes, if it exceeds the default. */
  readonly bodyLimit?: number;
  readonly reply: ReplyShape;
  /** Errors in addition to those that follow from the declaration. */
  readonly errors: readonly ErrorCode[];
  /** Accepts If-Match, and returns 412 if the resource was changed in the meantime. */
  readonly isConditional: boolean;
  /**
   * The path that returns the ETag for If-Match, if it is neither the operation's path nor a parent of it.
   */
  readonly conditionOf?: string;
  /** Whether the data that it deletes cannot be restored. */
  readonly isDestructive: boolean;
  /** Required if it changes something (app/audit-policy.test.ts). */
  readonly audit?: AuditPolicy;
  /** Its two words on the command line, if the default (app/operations/call-operation.ts) reads badly. */
  readonly command?: string;
  /** An example request, which the API description shows and a test sends. */
  readonly example: { readonly query?: unknown; readonly body?: unknown };
  /** Validates the request (400, 422), then runs it. */
  handle(scope: ScopeOf<Own>, raw: RawInput): Promise<OperationResponse>;
  /** @throws Error if a response does not match the declared reply, which tests check. */
  holdReply(answer: OperationResponse): void;
};

const nothing = strictObject({});
type Nothing = typeof nothing;

/** The path parameter of resources with an id. */
export const idParameter = Type.Object({ id: uuidSchema });

/** The type of a body: JSON by its schema, or the bytes of a file, as a stream if it may be large. */
type BodyOf<B extends TObject, Content, Streams> = Content extends readonly string[]
  ? Streams extends true
    ? Readable
    : Buffer
  : Static<B>;

type JsonOf<R extends ReplyShape> = R extends { schema: infer S extends TSchema } ? Static<S> : undefined;

type Needs<Permission, Own> =
  | { permission: Permission; caller?: never }
  | { permission?: never; caller: Own };

/** The optional properties of a declaration that do not determine its type. */
type OptionalPart =
  | ('description' | 'isBodyOptional' | 'bodyLimit' | 'errors' | 'conditionOf')
  | ('isDestructive' | 'audit' | 'command');

/**
 * Declares an operation for API keys, the console, the command line and OpenAPI. The caller is already
 * identified, and acts in one workspace or for their own account (`caller`). Order of checks: caller (401),
 * rate limit (429), permission (403), validation (400, 422), existence (404, in `run`).
 */
export function operation<
  const R extends ReplyShape,
  const Permission extends string | undefined = undefined,
  const Own extends SessionCaller | undefined = undefined,
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TObject = Nothing,
  const Content extends readonly string[] | undefined = undefined,
  const Conditional extends boolean = false,
  const Streams extends boolean = false,
>(
  definition: Needs<Permission, Own> &
    Pick<Operation, 'summary'> &
    Partial<Pick<Operation, OptionalPart>> & {
      params?: P;
      query?: Q;
      body?: B;
      bodyContent?: Content;
      streamsBody?: Streams;
      reply: R;
      isConditional?: Conditional;
      example?: { query?: Static<Q>; body?: BodyOf<B, Content, false> };
      run(
        request: OperationRequest<Static<P>, Static<Q>, BodyOf<B, Content, Streams>, R, Own>,
      ): Promise<ContentOf<R>>;
    },
): Operation<Permission, Static<P>, Static<Q>, BodyOf<B, Content, false>, JsonOf<R>, Own> & {
  readonly isConditional: Conditional;
} {
  const params = definition.params ?? nothing;
  const query = definition.query ?? nothing;
  const content = definition.bodyContent;
  // Compiled at the first request, because the command line declares all operations and runs one.
  const compile = () => ({
    params: compileQuery(params),
    query: compileQuery(query),
    body: content
      ? (body: unknown) => readFile(body, content, definition.streamsBody)
      : compileBody(definition.body ?? nothing),
  });
  let read: ReturnType<typeof compile> | undefined;
  const needsBody = definition.body !== undefined && !definition.isBodyOptional;
  return {
    ...definition,
    permission: definition.permission as Permission,
    caller: definition.caller as Own,
    params,
    query,
    isBodyOptional: definition.isBodyOptional ?? false,
    errors: definition.errors ?? [],
    isConditional: (definition.isConditional ?? false) as Conditional,
    isDestructive: definition.isDestructive ?? false,
    example: definition.example ?? {},
    holdReply: compileReplyCheck(definition.reply),
    async handle(scope, raw) {
      read ??= compile();
      const given = {
        params: read.params(raw.params ?? {}) as Static<P>,
        query: read.query(raw.query ?? {}) as Static<Q>,
        body: read.body(raw.body ?? (needsBody ? undefined : {})) as BodyOf<B, Content, Streams>,
        unchanged: raw.unchanged ?? null,
      };
      raw.check?.(given.params);
      const answer = await definition.run({ ...scope, ...given });
      return { status: definition.reply.status, ...answer };
    },
  };
}

/** @throws ApiError unsupported_media_type if the body is not a file of an accepted type. */
function readFile(body: unknown, types: readonly string[], isStream = false): Buffer | Readable {
  if (isStream && body instanceof Readable) return body;
  // The command line and MCP send the bytes of a file.
  if (isStream && Buffer.isBuffer(body)) return Readable.from([body], { objectMode: false });
  if (!Buffer.isBuffer(body))
    throw new ApiError('unsupported_media_type', `Send a file of an accepted type: ${types.join(', ')}.`);
  return body;
}
