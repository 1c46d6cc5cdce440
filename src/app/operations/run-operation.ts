import { type IfMatchTimes, parseIfMatch } from '#kit/conditional.ts';
import { ApiError } from '#kit/errors.ts';
import { replyText } from '#kit/http.ts';
import type { AuditPolicy, ClientInfo, OperationResponse, RequestScope } from '#kit/operation.ts';
import { type AuditedObjectReader, type AuditLog, auditEntryOfRequest } from '#workspaces/audit/audit-log.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { runIdempotentRequest } from '#workspaces/idempotency.ts';
import type { ApiResponse } from './call-operation.ts';
import type { ApiRoute } from './operations.ts';
import type { Services } from './services.ts';

/** A request to an operation that comes from HTTP, the command line or MCP. */
type Given = {
  params: unknown;
  query: unknown;
  body: unknown;
  ifMatch?: string | undefined;
  /** The Idempotency-Key and the URL of the request. A repeated key must come with an unchanged URL. */
  once?: { key: string; url: string } | undefined;
  /** The id of the request in the logs. */
  id?: string;
  /** Where the request comes from; undefined for the command line. */
  origin?: ClientInfo;
  /**
   * Whether only the headers of the response are sent. No data then leaves the service, so there is no audit
   * entry.
   */
  isHead?: boolean;
};

/**
 * Runs an operation for a caller who has its permission, and handles what every interface needs: the audit
 * entry, If-Match and the Idempotency-Key.
 */
type Run = (caller: RequestScope, given: Given) => Promise<OperationResponse>;

/** Returns the function that runs an operation. */
export function createOperationRunner(
  services: Pick<Services, 'config' | 'database' | 'vault'>,
  auditLog: AuditLog,
  route: ApiRoute,
): Run {
  const { method, operation } = route;
  const isOfForm = /^\/forms\/:id\b/.test(route.path);
  const { isReplyChecked, identityProvider, smtp } = services.config;
  const has = { canSignIn: identityProvider !== undefined, sendsEmail: smtp !== undefined };
  return async (caller, given) => {
    const { params, query, body, once } = given;
    const unchanged = readMatch(given.ifMatch, operation.isConditional);
    const isLined = hasEntry(operation.audit, caller) && !given.isHead && !isDryRun(query);
    const line = isLined ? auditEntryOfRequest(route, caller, given) : undefined;
    const compared = line && comparedBy(route, caller, given);
    // Here, so that no operation on a form can forget it.
    const check = isOfForm
      ? (checked: unknown) => requireFormAccess(caller.formIds, (checked as { id: string }).id)
      : undefined;
    const run = (): Promise<OperationResponse> =>
      auditLog.note(
        operation,
        line,
        caller,
        (scope) => operation.handle({ ...scope, ...has }, { params, query, body, unchanged, check }),
        compared,
      );
    const answer = await (once
      ? runIdempotentRequest(services, caller, { ...once, method, body }, run)
      : run());
    if (isReplyChecked) operation.holdReply(answer);
    return answer;
  };
}

function hasEntry(audit: AuditPolicy | undefined, { actor }: RequestScope): boolean {
  if (audit === 'entry by people') return actor.kind === 'person';
  return audit !== undefined && !(typeof audit === 'object' && 'none' in audit);
}

/** A dry run changes nothing, so it has no audit entry. */
const isDryRun = (query: unknown): boolean =>
  (query as { dry_run?: unknown } | undefined)?.dry_run === 'true';

/** Longer replies are forms with thousands of elements. Their entry has no difference. */
const longestCompared = 200_000;

/**
 * Returns how the audit log finds out what an operation changes: from the operation that reads it, or from
 * the body.
 */
function comparedBy(
  { operation: { audit }, reader }: ApiRoute,
  caller: RequestScope,
  { params, body }: Given,
): AuditedObjectReader | undefined {
  if (typeof audit !== 'object' || 'none' in audit) return undefined;
  if ('fields' in audit) {
    const sent = Object.entries(body ?? {}).filter(([name]) => audit.fields.includes(name));
    return { before: async () => undefined, after: async () => Object.fromEntries(sent) };
  }
  if (!reader) return undefined;
  const read = async (ids: unknown): Promise<unknown> => {
    try {
      const text = replyText(await reader.handle(caller, { params: ids, query: {}, body: undefined })) ?? '';
      if (text.length > longestCompared) return undefined;
      const reply = JSON.parse(text) as Readonly<Record<string, unknown>>;
      return audit.part === undefined ? reply : reply[audit.part];
    } catch (error) {
      // The object does not exist yet, or no longer exists.
      if (error instanceof ApiError && error.code === 'not_found') return undefined;
      throw error;
    }
  };
  return 'creates' in audit
    ? { before: async () => undefined, after: (_answer, createdId) => read({ id: createdId }) }
    : { before: () => read(params), after: () => read(params) };
}

/**
 * Reads If-Match.
 * @throws ApiError bad_request for an operation without ETags, so that a client that relies on If-Match
 * notices.
 */
function readMatch(header: string | undefined, isConditional: boolean): IfMatchTimes {
  if (header !== undefined && !isConditional)
    throw new ApiError('bad_request', 'If-Match is not supported here: this resource has no ETag.');
  return parseIfMatch(header);
}

/** Converts a response to the form in which it is sent over HTTP: dates are strings. */
export function toApiResponse(answer: OperationResponse): ApiResponse {
  if (answer.stream) return { stream: answer.stream };
  const text = replyText(answer);
  return { value: text === undefined ? undefined : (JSON.parse(text) as unknown), tag: answer.tag };
}
