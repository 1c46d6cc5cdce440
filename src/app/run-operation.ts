import { readUnchanged, type Unchanged } from '#kit/conditional.ts';
import { ApiError } from '#kit/errors.ts';
import type { Answer, Scope } from '#kit/operation.ts';
import { textOf } from '#kit/wire.ts';
import { type AuditLog, lineOf } from '#workspaces/audit/audit-log.ts';
import { isDryRun, isNoted } from '#workspaces/audit/is-noted.ts';
import { runOnce } from '#workspaces/idempotency/idempotency.ts';
import type { Sent } from './cli/api.ts';
import type { ApiRoute } from './operations.ts';
import type { Services } from './services.ts';

/** A request to an operation, by whichever door it came. */
type Given = {
  params: unknown;
  query: unknown;
  body: unknown;
  ifMatch?: string | undefined;
  /** Its Idempotency-Key, and the address that has to be the same in every request under it. */
  once?: { key: string; url: string } | undefined;
  /** Its id in the log. */
  id?: string;
  /** Of what would be answered only the head is wanted: nothing is taken out. */
  isHead?: boolean;
};

/**
 * Runs an operation for a caller who may do it, with what holds at every door: its line in the audit log, If-Match, and
 * once under an Idempotency-Key.
 */
export type Run = (caller: Scope, given: Given) => Promise<Answer>;

/** How an operation is run. */
export function runnerOf(
  services: Pick<Services, 'config' | 'database' | 'vault'>,
  auditLog: AuditLog,
  route: ApiRoute,
): Run {
  const { method, operation } = route;
  const { isReplyChecked } = services.config;
  const hasLine = isNoted(route);
  return async (caller, given) => {
    const { params, query, body, once } = given;
    const unchanged = readMatch(given.ifMatch, operation.isConditional);
    const isLined = hasLine && !given.isHead && !isDryRun(query);
    const line = isLined ? lineOf(route, caller, given) : undefined;
    const run = (): Promise<Answer> =>
      auditLog.note(operation, line, caller, (scope) =>
        operation.handle(scope, { params, query, body, unchanged }),
      );
    const answer = await (once ? runOnce(services, caller, { ...once, method, body }, run) : run());
    if (isReplyChecked) operation.holdReply(answer);
    return answer;
  };
}

/** @throws ApiError bad_request where If-Match says nothing: who relies on it is not let down in silence. */
function readMatch(header: string | undefined, isConditional: boolean): Unchanged {
  if (header !== undefined && !isConditional)
    throw new ApiError('bad_request', 'If-Match is not understood here: this has no ETag.');
  return readUnchanged(header);
}

/** An answer as it goes to the wire: moments are text. */
export function sentOf(answer: Answer): Sent {
  if (answer.stream) return { stream: answer.stream };
  const text = textOf(answer);
  return { value: text === undefined ? undefined : (JSON.parse(text) as unknown), tag: answer.tag };
}
