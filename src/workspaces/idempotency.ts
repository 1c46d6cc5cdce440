import { createHash } from 'node:crypto';
import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { textOf } from '#kit/http.ts';
import type { Answer, Scope } from '#kit/operation.ts';
import { only, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';

/** Forgets what requests were answered: whoever repeats one is told to look whether it took effect. */
export const forgetKeptAnswers = statement(
  'idempotency.forget_kept_answers',
  'workspace_id',
  'key:bytes',
  `update repeatable_requests set status = null, answer = null
   where workspace_id = $workspace_id and answer is not null returning key`,
);

/** What is no longer kept. */
export const pruneRequests = statement(
  'idempotency.prune_requests',
  'kept_from',
  '',
  `/* sweep: across workspaces */ delete from repeatable_requests where begun_at < $kept_from`,
);

/** Begins a request under a key; nothing comes back where one was begun under it within the last `kept_from`. */
const beginRequest = statement(
  'idempotency.begin_request',
  'workspace_id key:bytes fingerprint now kept_from',
  'begun:boolean',
  `insert into repeatable_requests (workspace_id, key, fingerprint, begun_at)
   values ($workspace_id, $key, $fingerprint, $now)
   on conflict (workspace_id, key) do update set
     fingerprint = excluded.fingerprint, begun_at = excluded.begun_at, status = null, answer = null
     where repeatable_requests.begun_at < $kept_from
   returning true as begun`,
);

const findRequest = statement(
  'idempotency.find_request',
  'workspace_id key:bytes',
  'fingerprint begun_at status:integer? answer?',
  `select fingerprint, begun_at, status, answer from repeatable_requests
   where workspace_id = $workspace_id and key = $key`,
);

/** Notes what was answered. */
const endRequest = statement(
  'idempotency.end_request',
  'workspace_id key:bytes status:integer answer?',
  '',
  `update repeatable_requests set status = $status, answer = $answer
   where workspace_id = $workspace_id and key = $key`,
);

/** Forgets a request that was refused: its key is free again. */
const forgetRequest = statement(
  'idempotency.forget_request',
  'workspace_id key:bytes',
  '',
  `delete from repeatable_requests where workspace_id = $workspace_id and key = $key`,
);

const usedElsewhere = 'This Idempotency-Key was used for another request. Send a new one.';

/** How long a key stands for its request. */
export const keptMs = 24 * 3_600_000;
/** No request runs longer; one that has not ended by then was cut off with its process. */
const longestMs = 120_000;

const keptFrom = (): Date => new Date(now().getTime() - keptMs);

/** What came under an Idempotency-Key: all that makes two requests the same. */
type RepeatableRequest = { key: string; method: string; url: string; body: unknown };

/**
 * Runs a request once, however often it is sent under its Idempotency-Key within 24 hours: the first answer that is a
 * success is kept, sealed, and given again. A request that was refused did nothing and leaves its key free; one whose
 * process died midway is never run again, as nobody knows whether it took effect.
 * @throws ApiError bad_request for a key that is none; validation_error for another request under the key; conflict
 * while the first still runs, was cut off, or was answered with another key of the instance.
 */
export async function runOnce(
  { database, vault }: { database: Database; vault: Vault },
  scope: Scope,
  request: RepeatableRequest,
  run: () => Promise<Answer>,
): Promise<Answer> {
  requireIdempotencyKey(request.key);
  const id = {
    workspace_id: scope.workspaceId,
    // Callers do not share keys: one may not see what another was answered.
    key: digest(scope.actor.kind, scope.actor.id, request.key),
  };
  const fingerprint = digest(request.method, request.url, bodyText(request.body));
  const begun = await beginRequest(database, { ...id, fingerprint, now: now(), kept_from: keptFrom() });
  if (begun.length === 0) return repeat(vault, fingerprint, only(await findRequest(database, id)));
  const answer = await run().catch(async (error: unknown) => {
    await forgetRequest(database, id).catch(() => {
      // The database is away: the key stays taken, and the caller learns of it with its next try.
    });
    throw error;
  });
  // It took effect: where its answer cannot be noted the key stays taken, as after a process that died.
  await endRequest(database, { ...id, status: answer.status, answer: seal(vault, answer) });
  return answer;
}

/** @throws ApiError bad_request for what is no key, wherever one comes in. */
export function requireIdempotencyKey(given: string): void {
  if (!/^[\x21-\x7E]{1,255}$/.test(given))
    throw new ApiError('bad_request', 'An Idempotency-Key has 1 to 255 visible ASCII characters.');
}

type Found = Awaited<ReturnType<typeof findRequest>>[number];

/** The answer of the first request under a key. */
function repeat(vault: Vault, fingerprint: Buffer, found: Found | undefined): Answer {
  if (found && !found.fingerprint.equals(fingerprint))
    throw new ApiError('validation_error', usedElsewhere, {
      errors: [{ field: 'Idempotency-Key', message: usedElsewhere, code: 'mismatch' }],
    });
  if (!found || found.status === null) {
    const isCutOff = found !== undefined && now().getTime() - found.begun_at.getTime() > longestMs;
    throw new ApiError(
      'conflict',
      isCutOff
        ? 'The first request under this Idempotency-Key was cut off. Look whether it took effect, then use a new key.'
        : 'The first request under this Idempotency-Key is still running. Try again shortly.',
    );
  }
  const kept = found.answer && unseal(vault, found.answer);
  return { status: found.status, ...kept, isReplayed: true };
}

type Kept = Pick<Answer, 'headers' | 'tag'> & { json?: string };

/** Sealed, because an answer may hold what is shown once: a key, a secret. */
function seal(vault: Vault, { headers, tag, ...answer }: Answer): Buffer {
  return vault.seal('answers', JSON.stringify({ json: textOf(answer), headers, tag }));
}

/** @throws ApiError conflict when it was sealed with another key: nobody can give it again. */
function unseal(vault: Vault, answer: Buffer): Kept {
  try {
    return JSON.parse(vault.unseal('answers', answer)) as Kept;
  } catch {
    throw new ApiError(
      'conflict',
      'The first request under this Idempotency-Key took effect, but its answer cannot be read any more, as the key of ' +
        'this instance was replaced. Look for what it made, then use a new key.',
    );
  }
}

/** What stands for a body: a file is millions of numbers as JSON. */
const bodyText = (body: unknown): string =>
  Buffer.isBuffer(body) ? createHash('sha256').update(body).digest('hex') : JSON.stringify(body ?? null);

const digest = (...parts: readonly string[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest();
