import './attempt-timings.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { Attempt, DeliveryDetail } from '#webhooks/shapes.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { CopyButton, CopyText } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Icon } from '../../design/icon.tsx';
import { Message } from '../../design/message.tsx';
import { QueryState } from '../../design/states.tsx';
import { Ago, AgoText, formatDateTime, useRegularRerender } from '../../design/time.tsx';
import { mayEdit } from '../../shell/session.ts';
import { eventLabel } from '../events.ts';
import {
  attemptTriggerLabels,
  formatMilliseconds,
  hasAttemptSucceeded,
  outcomeOf,
  prettifyJson,
} from '../log-view.ts';
import { deliveryQuery, type WebhookOwner } from '../webhooks-query.ts';

type MessageProps = {
  label: string;
  /** The text as it was sent or received. Copying uses this text. JSON is displayed with line breaks. */
  text: string;
};

/** A body or the headers of a request or response, as plain text. */
function MessageText({ label, text }: MessageProps): ReactElement {
  return (
    <div className="message-part">
      <div className="spread">
        <h4 className="message-part-title">{label}</h4>
        {text !== '' && <CopyButton text={text} of={label.toLowerCase()} size="small" variant="quiet" />}
      </div>
      {text === '' ? (
        <p className="soft small">Empty</p>
      ) : (
        <pre className="message-part-text" tabIndex={0} aria-label={label}>
          {prettifyJson(text)}
        </pre>
      )}
    </div>
  );
}

type Step = { id: string; label: string; ms: number };

/** The timing of an attempt, as a bar and in words. */
function AttemptTimings({ attempt }: { attempt: Attempt }): ReactElement | null {
  const steps = stepsOf(attempt);
  if (steps.length === 0) return null;
  const total = steps.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <div className="timings small">
      <span className="timings-bar" aria-hidden="true">
        {steps.map(({ id, ms }) => (
          <span key={id} className={`timing-${id}`} style={{ flexGrow: Math.max(ms / total, 0.01) }} />
        ))}
      </span>
      <ul role="list" className="timings-words soft numeric">
        {steps.map(({ id, label, ms }) => (
          <li key={id}>
            <span className={`timing-mark timing-${id}`} aria-hidden="true" /> {label}{' '}
            {formatMilliseconds(Math.round(ms))}
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * Returns the completed phases of an attempt. The first byte and the total are measured from the start, so
 * the earlier phases are subtracted.
 */
function stepsOf({ dns_ms, connect_ms, tls_ms, first_byte_ms, response_ms }: Attempt): Step[] {
  const connecting = (dns_ms ?? 0) + (connect_ms ?? 0) + (tls_ms ?? 0);
  const difference = (from: number, to: number | null): number | null =>
    to === null ? null : Math.max(to - from, 0);
  const steps: readonly (readonly [string, string, number | null])[] = [
    ['dns', 'DNS', dns_ms],
    ['connect', 'Connect', connect_ms],
    ['tls', 'TLS', tls_ms],
    ['wait', 'Wait for response', difference(connecting, first_byte_ms)],
    ['read', 'Download', first_byte_ms === null ? null : difference(first_byte_ms, response_ms)],
  ];
  return steps.flatMap(([id, label, ms]) => (ms === null ? [] : [{ id, label, ms }]));
}

/** The next attempt, then all requests of a delivery, newest first, with the reasons for retries. */
function AttemptList({ delivery }: { delivery: DeliveryDetail }): ReactElement {
  const newestFirst = delivery.history.toReversed();
  return (
    <ol role="list" className="attempts">
      {delivery.status === 'Retrying' && <NextAttempt at={delivery.next_attempt_at} />}
      {newestFirst.map((attempt, index) => (
        <AttemptItem key={attempt.attempt} attempt={attempt} isOpen={index === 0} />
      ))}
    </ol>
  );
}

function NextAttempt({ at }: { at: string | null }): ReactElement {
  useRegularRerender(1_000);
  const isDue = at === null || Date.parse(at) <= Date.now();
  return (
    <li className="attempt attempt-next">
      <span className="attempt-mark">
        <Icon name="clock" />
      </span>
      <p className="attempt-title">
        {isDue ? (
          'Sending now'
        ) : (
          <>
            Next attempt <AgoText at={at} />
          </>
        )}
      </p>
      {!isDue && <p className="soft small">{formatDateTime(at)}</p>}
    </li>
  );
}

function AttemptItem({ attempt, isOpen }: { attempt: Attempt; isOpen: boolean }): ReactElement {
  const isGood = hasAttemptSucceeded(attempt);
  return (
    <li className={`attempt ${isGood ? 'attempt-good' : 'attempt-bad'}`}>
      <span className="attempt-mark">
        <Icon name={isGood ? 'check' : 'close'} />
      </span>
      <div className="spread">
        <h3 className="attempt-title">{outcomeOf(attempt)}</h3>
        <span className="soft small">
          <Ago at={attempt.started_at} />
        </span>
      </div>
      <p className="soft small numeric">
        Attempt {attempt.attempt} · {attemptTriggerLabels[attempt.trigger]} ·{' '}
        {formatMilliseconds(attempt.response_ms)}
      </p>
      <AttemptTimings attempt={attempt} />
      {attempt.reason && <p>{attempt.reason}</p>}
      <AttemptMessages attempt={attempt} isOpen={isOpen} />
    </li>
  );
}

function AttemptMessages({ attempt, isOpen }: { attempt: Attempt; isOpen: boolean }): ReactElement | null {
  const { url, request_headers, response_body, response_status, response_headers } = attempt;
  const isAnswered = response_status !== null;
  if (!request_headers && !isAnswered) return null;
  return (
    <details className="attempt-messages" open={isOpen}>
      <summary>Request and response</summary>
      <div className="stack">
        {request_headers && (
          <MessageText label="Request headers" text={formatRequest(url, request_headers)} />
        )}
        <BodyProof attempt={attempt} />
        {isAnswered && response_headers && (
          <MessageText label="Response headers" text={formatHeaders(response_headers)} />
        )}
        {isAnswered && <MessageText label="Response body" text={response_body ?? ''} />}
      </div>
    </details>
  );
}

const formatRequest = (url: string | null, headers: Readonly<Record<string, string>>): string =>
  [`POST ${url ?? ''}`, formatHeaders(headers)].join('\n');

const formatHeaders = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** Shows a hash that can be compared with that of the body that arrived at the receiver. */
function BodyProof({ attempt }: { attempt: Attempt }): ReactElement | null {
  const { body_sha256, is_body_exact } = attempt;
  if (body_sha256 === null) return null;
  return (
    <p className="soft small">
      SHA-256 of the request body: <CopyText label="SHA-256" text={body_sha256} />{' '}
      {is_body_exact
        ? 'The body shown here matches it.'
        : 'The body shown here could not be recreated exactly, because the format of the webhook, or the key or URL of this service, has changed.'}
    </p>
  );
}

type Props = { form: WebhookOwner; delivery: string; onClose: () => void };

/** Shows one delivery: what was sent, every attempt, and a retry button. */
export function DeliveryPanel({ form, delivery, onClose }: Props): ReactElement {
  const found = useQuery(deliveryQuery(form, delivery));
  const retry = useAction({
    run: () => callOperation(form.workspace_id, 'retryDelivery', { params: { id: delivery } }),
  });
  const detail = found.data;
  const mayRetry = detail?.status === 'Failed' && !detail.is_test && mayEdit(form.role);
  return (
    <Dialog
      title="Delivery"
      size="side"
      onClose={onClose}
      actions={
        mayRetry && (
          <Button variant="primary" icon="refresh" onPress={() => !retry.isPending && retry.mutate()}>
            Retry now
          </Button>
        )
      }
    >
      {retry.error && <Message tone="bad">{retry.error.message}</Message>}
      <QueryState query={found} lines={4}>
        {(data) => <DeliveryContent detail={data} />}
      </QueryState>
    </Dialog>
  );
}

function DeliveryContent({ detail }: { detail: DeliveryDetail }): ReactElement {
  return (
    <>
      <div className="row" role="status">
        <StatusChip status={detail.status} />
        {detail.is_test && <Chip tone="info">Test</Chip>}
        <span>{eventLabel(detail.event)}</span>
      </div>
      <dl className="delivery-facts">
        <dt>Started</dt>
        <dd>{formatDateTime(detail.created_at)}</dd>
        <dt>Delivery</dt>
        <dd>
          <CopyText label="delivery ID" text={detail.id} />
        </dd>
        <dt>Submission</dt>
        <dd>
          {detail.is_test ? (
            'A sample created for this test'
          ) : (
            <Link
              to="/forms/$form/submissions"
              params={{ form: detail.form_id }}
              search={{ open: detail.submission_id }}
            >
              Open submission
            </Link>
          )}
        </dd>
      </dl>
      <AttemptList delivery={detail} />
      <MessageText label="Request body, identical in every attempt" text={detail.request_body} />
    </>
  );
}
