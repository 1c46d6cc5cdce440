import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { replyText } from '#kit/http.ts';
import type { OperationResponse, RequestScope } from '#kit/operation.ts';
import { onlyRow, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';

/** Deletes stored responses. A repeated request then gets an error that says to check its effect. */
export const clearStoredResponses = statement('workspace_id', 'key:bytes')`
  update repeatable_requests set status = null, answer = null
  where workspace_id = $workspace_id and answer is not null returning key`;

export const deleteExpiredIdempotencyKeys = statement('kept_from', '')`
  /* sweep: across workspaces */ delete from repeatable_requests where begun_at < $kept_from`;

/** Begins a request under a key; no row if one began under it after `kept_from`. */
const beginRequest = statement('workspace_id key:bytes fingerprint now kept_from', 'begun:boolean')`
  insert into repeatable_requests (workspace_id, key, fingerprint, begun_at)
  values ($workspace_id, $key, $fingerprint, $now)
  on conflict (workspace_id, key) do update set
    fingerprint = excluded.fingerprint, begun_at = excluded.begun_at, status = null, answer = null
    where repeatable_requests.begun_at < $kept_from
  returning true as begun`;

const findRequest = statement('workspace_id key:bytes', 'fingerprint begun_at status:integer? answer?')`
  select fingerprint, begun_at, status, answer from repeatable_requests
  where workspace_id = $workspace_id and key = $key`;

/** Stores the response. */
const endRequest = statement('workspace_id key:bytes status:integer answer?', '')`
  update repeatable_requests set status = $status, answer = $answer
  where workspace_id = $workspace_id and key = $key`;

/** Deletes a refused request, so that its key can be used again. */
const deleteRequest = statement('workspace_id key:bytes', '')`
  delete from repeatable_requests where workspace_id = $workspace_id and key = $key`;

const keyReusedMessage = 'This Idempotency-Key was used for another request. Send a new one.';

/** How long a key is tied to its request. */
export const idempotencyKeyMs = 24 * 3_600_000;
/** Only an upload of a large file runs longer; another older unfinished one was interrupted with its process. */
const longestMs = 120_000;

const keptFrom = (): Date => new Date(now().getTime() - idempotencyKeyMs);

/** A request with an Idempotency-Key, with all properties that identify it. */
type RepeatableRequest = { key: string; method: string; url: string; body: unknown };

/**
 * Runs a request once, even if it is sent repeatedly under its Idempotency-Key within 24 hours. The first
 * successful response is stored sealed and returned again. A refused request did nothing, so its key can be
 * used again. A request whose process died never runs again, because it may have had an effect.
 * @throws ApiError bad_request for an invalid key; validation_error if the key was used for another request;
 * conflict while the first one runs, if it was interrupted, or if its response was sealed with another
 * instance key.
 */
export async function runIdempotentRequest(
  { database, vault }: { database: Database; vault: Vault },
  scope: RequestScope,
  request: RepeatableRequest,
  run: () => Promise<OperationResponse>,
): Promise<OperationResponse> {
  checkIdempotencyKey(request.key);
  const id = {
    workspace_id: scope.workspaceId,
    // Callers do not share keys: none may see another's response.
    key: digest(scope.actor.kind, scope.actor.id, request.key),
  };
  const fingerprint = digest(request.method, request.url, bodyText(request.body));
  const begun = await beginRequest(database, { ...id, fingerprint, now: now(), kept_from: keptFrom() });
  if (begun.length === 0) return replayResponse(vault, fingerprint, onlyRow(await findRequest(database, id)));
  const answer = await run().catch(async (error: unknown) => {
    await deleteRequest(database, id).catch(() => {
      // The database is unavailable: the key stays in use, and the caller gets an error on the next try.
    });
    throw error;
  });
  // The request took effect. If its response can't be stored, the key stays in use, as after a process that
  // died.
  await endRequest(database, { ...id, status: answer.status, answer: seal(vault, answer) });
  return answer;
}

/** Checks an Idempotency-Key. @throws ApiError bad_request if it is invalid. */
export function checkIdempotencyKey(given: string): void {
  if (!/^[\x21-\x7E]{1,255}$/.test(given))
    throw new ApiError('bad_request', 'An Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

type Found = Awaited<ReturnType<typeof findRequest>>[number];

/** Returns the response of the first request with this key. */
function replayResponse(vault: Vault, fingerprint: Buffer, found: Found | undefined): OperationResponse {
  if (found && !found.fingerprint.equals(fingerprint))
    throw new ApiError('validation_error', keyReusedMessage, {
      errors: [{ field: 'Idempotency-Key', message: keyReusedMessage, code: 'mismatch' }],
    });
  if (!found || found.status === null) {
    const isCutOff = found !== undefined && now().getTime() - found.begun_at.getTime() > longestMs;
    throw new ApiError(
      'conflict',
      isCutOff
        ? 'The first request with this Idempotency-Key was interrupted. Check whether it took effect, then use a new key.'
        : 'The first request with this Idempotency-Key is still running. Try again shortly.',
    );
  }
  const stored = found.answer && unseal(vault, found.answer);
  return { status: found.status, ...stored, isReplayed: true };
}

type StoredResponse = Pick<OperationResponse, 'headers' | 'tag'> & { json?: string };

/** Seals a response, because it may contain a key or a secret that is shown only once. */
function seal(vault: Vault, { headers, tag, ...answer }: OperationResponse): Buffer {
  return vault.seal('answers', JSON.stringify({ json: replyText(answer), headers, tag }));
}

/** Opens a stored response. @throws ApiError conflict if it was sealed with another instance key. */
function unseal(vault: Vault, answer: Buffer): StoredResponse {
  try {
    return JSON.parse(vault.unseal('answers', answer)) as StoredResponse;
  } catch {
    throw new ApiError(
      'conflict',
      'The first request with this Idempotency-Key took effect, but its response can no longer be read because the instance key was replaced. Check what it created, then use a new key.',
    );
  }
}

/**
 * Returns a body as text; a file as its hash, because as JSON it would be millions of numbers. A file that is passed
 * on as it arrives is not compared.
 */
const bodyText = (body: unknown): string =>
  body instanceof Readable
    ? ''
    : Buffer.isBuffer(body)
      ? createHash('sha256').update(body).digest('hex')
      : JSON.stringify(body ?? null);

const digest = (...parts: readonly string[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest();
