import './attempt-timings.css';
import type { ReactElement } from 'react';
import type { Attempt } from '#webhooks/shapes.ts';
import { sayMs } from './delivery-words.ts';

type Step = { id: string; label: string; ms: number };

/** Where the time of an attempt went; the words say what the bar shows. */
export function AttemptTimings({ attempt }: { attempt: Attempt }): ReactElement | null {
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
            <span className={`timing-mark timing-${id}`} aria-hidden="true" /> {label} {sayMs(Math.round(ms))}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The steps that an attempt came to. The first byte and the total count from the beginning, so the rest is theirs. */
function stepsOf({ dns_ms, connect_ms, tls_ms, first_byte_ms, response_ms }: Attempt): Step[] {
  const connecting = (dns_ms ?? 0) + (connect_ms ?? 0) + (tls_ms ?? 0);
  const rest = (from: number, to: number | null): number | null =>
    to === null ? null : Math.max(to - from, 0);
  const steps: readonly (readonly [string, string, number | null])[] = [
    ['dns', 'DNS', dns_ms],
    ['connect', 'Connect', connect_ms],
    ['tls', 'TLS', tls_ms],
    ['wait', 'Wait for the answer', rest(connecting, first_byte_ms)],
    ['read', 'Rest', first_byte_ms === null ? null : rest(first_byte_ms, response_ms)],
  ];
  return steps.flatMap(([id, label, ms]) => (ms === null ? [] : [{ id, label, ms }]));
}
