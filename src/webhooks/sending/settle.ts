import { hash } from 'node:crypto';
import { formatCount } from '#ast/basics/format-number.ts';
import { now } from '#kit/clock.ts';
import type { OutboundResult } from '#kit/outbound/outbound.ts';
import type { Job } from '#kit/queue.ts';
import type { Trigger } from '../delivery-job.ts';
import { redactLoggedHeaders } from '../signature.ts';
import type { Delivery, PreparedRequest } from './prepare.ts';

/**
 * The result of a request: the receiver's status, with the seconds it asks us to wait; a failure on the way,
 * which may be temporary; or our refusal to send, which is permanent.
 */
export type SendResult =
  | { kind: 'answer'; status: number; retryAfter?: number | undefined }
  | { kind: 'failure'; reason: string }
  | { kind: 'refusal'; reason: string };

/** The next status of a delivery, and its reason in words. `delay` is in seconds. */
type Verdict =
  | { status: 'Success'; reason: null }
  | { status: 'Retrying'; reason: string; delay: number }
  | { status: 'Failed'; reason: string };

type Consequence = 'succeed' | 'retry' | 'fail';

/**
 * What each status of a response means. Specification, "Delivery and retry rules"; for 3xx, docs/rules.md 2.
 * The first matching line decides. If none matches, the delivery fails.
 */
const rules: readonly { from: number; to: number; means: Consequence }[] = [
  { from: 200, to: 299, means: 'succeed' },
  { from: 300, to: 399, means: 'fail' },
  { from: 408, to: 408, means: 'retry' },
  { from: 429, to: 429, means: 'retry' },
  { from: 400, to: 499, means: 'fail' },
  { from: 500, to: 599, means: 'retry' },
];

/**
 * Decides what follows a request.
 * @param attempts the number of requests made so far, including this one.
 * @param delays the seconds to wait after the first failure, the second, and so on. There are as many
 * automatic retries as delays (docs/rules.md 1: 1 m, 5 m, 15 m, 1 h, 3 h, so at most six requests). Empty for
 * a request by a person, which does not start the schedule again.
 * @param lastWords why no attempt follows the delays, for the log.
 */
export function decideVerdict(
  result: SendResult,
  attempts: number,
  delays: readonly number[],
  lastWords = 'No automatic retries are left.',
): Verdict {
  const consequence = consequenceOf(result);
  if (consequence === 'succeed') return { status: 'Success', reason: null };
  const what = result.kind === 'answer' ? `The receiver returned ${result.status}.` : result.reason;
  if (consequence === 'fail')
    return { status: 'Failed', reason: `${what} The delivery will not be retried automatically.` };
  const delay = delays[attempts - 1];
  if (delay === undefined) return { status: 'Failed', reason: `${what} ${lastWords}` };
  const requested = result.kind === 'answer' ? (result.retryAfter ?? 0) : 0;
  if (requested > delay) {
    const reason = `${what} The next attempt is in ${inWords(requested)}, as the receiver requested.`;
    return { status: 'Retrying', reason, delay: requested };
  }
  return { status: 'Retrying', reason: `${what} The next attempt is in ${inWords(delay)}.`, delay };
}

function consequenceOf(result: SendResult): Consequence {
  if (result.kind === 'failure') return 'retry';
  if (result.kind === 'refusal') return 'fail';
  return rules.find(({ from, to }) => result.status >= from && result.status <= to)?.means ?? 'fail';
}

/** Formats seconds in the largest unit that divides them. */
function inWords(seconds: number): string {
  const units = { hour: 3_600, minute: 60, second: 1 } as const;
  const largest = (['hour', 'minute'] as const).find(
    (unit) => seconds >= units[unit] && seconds % units[unit] === 0,
  );
  const unit = largest ?? 'second';
  return formatCount(seconds / units[unit], unit);
}

/**
 * The maximum wait that a receiver can request, in seconds. Without it, one wrong header could end a
 * delivery.
 */
const longestWait = 3_600;

/**
 * Returns how long a receiver asks us to wait, in seconds, at most an hour. RFC 9110 10.2.3: a number of
 * seconds or a date.
 * @returns undefined if the header is neither, or if the time has passed.
 */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(text, now);
  return seconds !== undefined && seconds > 0 ? Math.min(seconds, longestWait) : undefined;
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function secondsUntil(text: string, now: Date): number | undefined {
  if (!httpDate.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.ceil((time - now.getTime()) / 1_000);
}

/** A completed request. `sent` is null if nothing was sent. */
export type EndedRequest = {
  job: Job;
  trigger: Trigger;
  delivery: Delivery;
  startedAt: Date;
  sent: PreparedRequest | null;
  result: OutboundResult;
};

/** What settleDeliveries writes about a request. `delay` is the seconds until the next attempt. */
export type DeliveryOutcome = ReturnType<typeof deliveryOutcomeOf>;

/** Why a request is not retried automatically. */
const finalReasons: Readonly<Record<Trigger, string>> = {
  schedule: 'No automatic retries are left.',
  manual: 'A manual retry sends only one request.',
  test: 'Tests are not retried.',
  replay: 'A replay sends each delivery only once.',
};

/**
 * A test goes to a URL that a person has just entered. This message hides why a connection failed, so that
 * tests cannot be used to scan a network (docs/rules.md C25).
 */
const testFailed = 'Could not make a secure connection to the receiver.';

/** Returns the attempt for the delivery log, and what happens next to the delivery. */
export function deliveryOutcomeOf(ended: EndedRequest, retryDelays: readonly number[]) {
  const { job, trigger, delivery, startedAt, sent, result } = ended;
  const delays = trigger === 'schedule' ? retryDelays : [];
  const verdict = decideVerdict(asSendResult(ended), delivery.attempts + 1, delays, finalReasons[trigger]);
  const answer = result.kind === 'answer' ? result : null;
  return {
    workspace_id: job.workspaceId,
    id: job.id,
    lease_token: job.leaseToken,
    status: verdict.status,
    delay: verdict.status === 'Retrying' ? verdict.delay : null,
    trigger,
    url: sent?.url ?? null,
    request_headers: sent && redactLoggedHeaders(sent, delivery.header_names),
    body_sha256: sent && hash('sha256', sent.body),
    body_bytes: sent && sent.body.length,
    started_at: startedAt,
    response_status: answer?.status ?? null,
    response_ms: result.ms,
    ...phasesOf(ended),
    response_headers: answer?.headers ?? null,
    response_body: answer?.bodyHead ?? null,
    reason: verdict.reason,
  };
}

const hidesFailure = ({ trigger, result }: EndedRequest): boolean =>
  trigger === 'test' && result.kind === 'failure' && !result.wasConnected;

function asSendResult(ended: EndedRequest): SendResult {
  const { result } = ended;
  if (hidesFailure(ended)) return { kind: 'failure', reason: testFailed };
  if (result.kind !== 'answer') return result;
  return { ...result, retryAfter: readRetryAfter(result.headers['retry-after'], now()) };
}

function phasesOf(ended: EndedRequest) {
  if (hidesFailure(ended)) return { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null };
  const { dns, connect, tls, firstByte } = ended.result.phases;
  return { dns_ms: dns, connect_ms: connect, tls_ms: tls, first_byte_ms: firstByte };
}
