import { hash } from 'node:crypto';
import { now } from '#kit/clock.ts';
import type { OutboundResult } from '#kit/outbound.ts';
import type { Job } from '#kit/queue.ts';
import type { Trigger } from '../delivery-job.ts';
import { loggedHeaders } from './headers.ts';
import type { Delivery, PreparedRequest } from './prepare.ts';
import { judge, type SendResult } from './retry.ts';
import { readRetryAfter } from './retry-after.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';

/** A request that is over. `sent` is null when nothing left the house. */
export type Ended = {
  job: Job;
  trigger: Trigger;
  delivery: Delivery;
  startedAt: Date;
  sent: PreparedRequest | null;
  result: OutboundResult;
};

/** What settleDeliveries writes of one request. */
export type Outcome = {
  workspace_id: string;
  id: string;
  lease_token: string;
  status: DeliveryStatus;
  /** Seconds until the next attempt; null when there is none. */
  delay: number | null;
  trigger: Trigger;
  url: string | null;
  request_headers: Record<string, string> | null;
  body_sha256: string | null;
  body_bytes: number | null;
  started_at: Date;
  response_status: number | null;
  response_ms: number;
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  first_byte_ms: number | null;
  response_headers: Readonly<Record<string, string>> | null;
  response_body: string | null;
  reason: string | null;
};

/** Why a request is not repeated by itself. */
const lastWords: Readonly<Record<Trigger, string>> = {
  schedule: 'No automatic retries are left.',
  manual: 'A retry by hand is one request.',
  test: 'A test is one request.',
  replay: 'A replay sends each delivery once.',
};

/**
 * A test goes to whatever somebody entered a moment ago: it does not tell what kept it from connecting, so that it is
 * of no use to look around in a network (docs/rules.md C25).
 */
const testFailed = 'No secure connection to the receiver could be made.';

/** The line of the ledger for a request, and how its delivery goes on. */
export function outcomeOf(ended: Ended, retryDelays: readonly number[]): Outcome {
  const { job, trigger, delivery, startedAt, sent, result } = ended;
  const delays = trigger === 'schedule' ? retryDelays : [];
  const verdict = judge(asSendResult(ended), delivery.attempts + 1, delays, lastWords[trigger]);
  const answer = result.kind === 'answer' ? result : null;
  return {
    workspace_id: job.workspaceId,
    id: job.id,
    lease_token: job.leaseToken,
    status: verdict.status,
    delay: verdict.status === 'Retrying' ? verdict.delay : null,
    trigger,
    url: sent?.url ?? null,
    request_headers: sent && loggedHeaders(sent, delivery.header_names),
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

const hidesFailure = ({ trigger, result }: Ended): boolean =>
  trigger === 'test' && result.kind === 'failure' && !result.wasConnected;

function asSendResult(ended: Ended): SendResult {
  const { result } = ended;
  if (hidesFailure(ended)) return { kind: 'failure', reason: testFailed };
  if (result.kind !== 'answer') return result;
  return { ...result, retryAfter: readRetryAfter(result.headers['retry-after'], now()) };
}

function phasesOf(ended: Ended): Pick<Outcome, 'dns_ms' | 'connect_ms' | 'tls_ms' | 'first_byte_ms'> {
  if (hidesFailure(ended)) return { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null };
  const { dns, connect, tls, firstByte } = ended.result.phases;
  return { dns_ms: dns, connect_ms: connect, tls_ms: tls, first_byte_ms: firstByte };
}
