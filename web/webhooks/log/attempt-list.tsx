import type { ReactElement } from 'react';
import type { Attempt, DeliveryDetail } from '#webhooks/shapes.ts';
import { Icon } from '../../design/icon.tsx';
import { Ago, AgoText, sayMoment } from '../../design/time.tsx';
import { AttemptTimings } from './attempt-timings.tsx';
import { hasArrived, outcomeOf, sayMs, triggerWords } from './delivery-words.ts';
import { MessageText } from './message-text.tsx';
import { useClock } from '../../design/use-clock.ts';

/** Every request of a delivery, the newest first, with why it went on or not; before them what comes next. */
export function AttemptList({ delivery }: { delivery: DeliveryDetail }): ReactElement {
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
  useClock(1_000);
  const isDue = at === null || Date.parse(at) <= Date.now();
  return (
    <li className="attempt attempt-next">
      <span className="attempt-mark">
        <Icon name="clock" />
      </span>
      <p className="attempt-title">
        {isDue ? (
          'Is being sent now'
        ) : (
          <>
            Next attempt <AgoText at={at} />
          </>
        )}
      </p>
      {!isDue && <p className="soft small">{sayMoment(at)}</p>}
    </li>
  );
}

function AttemptItem({ attempt, isOpen }: { attempt: Attempt; isOpen: boolean }): ReactElement {
  const isGood = hasArrived(attempt);
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
        Attempt {attempt.attempt}, {triggerWords[attempt.trigger]}, took {sayMs(attempt.response_ms)}
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
        {request_headers && <MessageText label="Request headers" text={sayRequest(url, request_headers)} />}
        <BodyProof attempt={attempt} />
        {isAnswered && response_headers && (
          <MessageText label={`Response ${response_status}: headers`} text={sayHeaders(response_headers)} />
        )}
        {isAnswered && <MessageText label={`Response ${response_status}: body`} text={response_body ?? ''} />}
      </div>
    </details>
  );
}

const sayRequest = (url: string | null, headers: Readonly<Record<string, string>>): string =>
  [`POST ${url ?? ''}`, sayHeaders(headers)].join('\n');

const sayHeaders = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** What the receiver can compare with what it received. */
function BodyProof({ attempt }: { attempt: Attempt }): ReactElement | null {
  const { body_sha256, is_body_exact } = attempt;
  if (body_sha256 === null) return null;
  return (
    <p className="soft small">
      The SHA-256 of the body that was sent is <code className="body-hash">{body_sha256}</code>.{' '}
      {is_body_exact
        ? 'That of the body below is the same.'
        : 'The body below could not be made again exactly: the key or the address of this service has changed.'}
    </p>
  );
}
