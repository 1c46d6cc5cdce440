import './health.css';
import './health-panel.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Webhook, WebhookHealth } from '#webhooks/shapes.ts';
import { StatusChip } from '../../design/chip.tsx';
import { Message } from '../../design/message.tsx';
import { Loading } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { Ago, formatAgo, formatDateTime, useNow } from '../../design/time.tsx';
import { formatMilliseconds } from '../log-view.ts';
import { healthQuery, type WebhookOwner } from '../webhooks-query.ts';

const percentFormat = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const count = new Intl.NumberFormat();

/** Shows which share of the deliveries that ended within a day succeeded, as a bar and in words. */
export function DayHealth({ day }: Pick<Webhook, 'day'>): ReactElement {
  const { success, failed, retrying } = day;
  const total = success + failed + retrying;
  if (total === 0) return <span className="soft">No deliveries</span>;
  const parts = [
    ['health-good', success, 'delivered'],
    ['health-warn', retrying, 'retrying'],
    ['health-bad', failed, 'failed'],
  ] as const;
  const completed = success + failed;
  return (
    <div className="health">
      <span className="health-share numeric">
        {completed > 0 && percentFormat.format(success / completed)}
        <span className="health-bar" aria-hidden="true">
          {parts.map(
            ([tone, some]) => some > 0 && <span key={tone} className={tone} style={{ flexGrow: some }} />,
          )}
        </span>
      </span>
      <span className="soft small numeric">
        {parts
          .filter(([, some]) => some > 0)
          .map(([, some, word]) => `${count.format(some)} ${word}`)
          .join(', ')}
      </span>
    </div>
  );
}

/** Shows the result of the latest delivery, and when it started. */
export function LastDelivery({ last }: { last: Webhook['last_delivery'] }): ReactElement {
  if (!last) return <span className="soft">None yet</span>;
  return (
    <span className="row">
      <StatusChip status={last.status} />
      <span className="soft small">
        <Ago at={last.created_at} />
      </span>
    </span>
  );
}

/** Warns that a webhook was paused because of failures, or that it is failing. */
export function PauseNotice({ webhook }: { webhook: Webhook }): ReactElement | null {
  const { paused_by, paused_at, failing_since } = webhook;
  const now = useNow();
  if (paused_by === 'failure' && paused_at)
    return (
      <Message tone="bad" title={`Paused automatically ${formatAgo(paused_at, now)}`}>
        Every delivery has failed for days{failing_since && `, since ${formatDateTime(failing_since)}`}. New
        events are logged as failed and not sent. When the receiver works again, send a test, resume the
        webhook, then resend the failed deliveries.
      </Message>
    );
  if (paused_by === 'person' || !failing_since) return null;
  return (
    <Message tone="warn" title={`Failing since ${formatAgo(failing_since, now)}`}>
      No delivery has succeeded since {formatDateTime(failing_since)}. A webhook that keeps failing is paused
      after several days.
    </Message>
  );
}

type Bars = WebhookHealth['hours'];

/** Shows the success rate, response times and a chart of a webhook, for a day and for a week. */
export function HealthPanel({ form, webhook }: { form: WebhookOwner; webhook: string }): ReactElement {
  const [span, setSpan] = useState<'day' | 'week'>('day');
  const found = useQuery(healthQuery(form, webhook));
  if (found.error && !found.data) return <Message tone="bad">{found.error.message}</Message>;
  if (!found.data) return <Loading lines={3} />;
  const { day, week, hours, days } = found.data;
  return (
    <section className="card health-panel" aria-label="Health">
      <Tabs
        label="Time"
        value={span}
        onChange={setSpan}
        tabs={[
          { id: 'day', label: '24 hours', content: <Span window={day} bars={hours} each="hour" /> },
          { id: 'week', label: '7 days', content: <Span window={week} bars={days} each="day" /> },
        ]}
      />
    </section>
  );
}

type SpanProps = { window: WebhookHealth['day']; bars: Bars; each: 'hour' | 'day' };

function Span({ window, bars, each }: SpanProps): ReactElement {
  const completed = window.success + window.failed;
  return (
    <div className="stack">
      <dl className="health-figures">
        <div>
          <dt>Delivered</dt>
          <dd>{completed === 0 ? '–' : percentFormat.format(window.success / completed)}</dd>
        </div>
        <div>
          <dt>Median response time</dt>
          <dd>{formatMilliseconds(window.p50_ms)}</dd>
        </div>
        <div>
          <dt>95% respond within</dt>
          <dd>{formatMilliseconds(window.p95_ms)}</dd>
        </div>
      </dl>
      <Chart bars={bars} each={each} />
    </div>
  );
}

const height = 64;
const step = 10;

/** Stacked bars. The list below has the values for screen readers. */
function Chart({ bars, each }: Pick<SpanProps, 'bars' | 'each'>): ReactElement {
  const totals = bars.map(({ success, failed, retrying }) => success + failed + retrying);
  const highest = Math.max(0, ...totals);
  const most = Math.max(1, highest);
  const parts = ['success', 'retrying', 'failed'] as const;
  return (
    <>
      <svg
        className="health-chart"
        viewBox={`0 0 ${bars.length * step} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars.map((bar, index) => {
          let top = height;
          return parts.map((part) => {
            const size = (bar[part] / most) * (height - 2);
            top -= size;
            const box = { x: index * step + 1, y: top, width: step - 2, height: size };
            return size > 0 ? <rect key={`${bar.at} ${part}`} className={`chart-${part}`} {...box} /> : null;
          });
        })}
        <line className="chart-base" x1="0" x2={bars.length * step} y1={height - 0.5} y2={height - 0.5} />
      </svg>
      <div className="health-scale soft small numeric" aria-hidden="true">
        <span>{each === 'hour' ? '24 hours ago' : '7 days ago'}</span>
        {highest > 0 && (
          <span>
            Peak: {highest.toLocaleString()} in {each === 'hour' ? 'an hour' : 'a day'}
          </span>
        )}
        <span>{each === 'hour' ? 'Now' : 'Today'}</span>
      </div>
      <ul className="unseen" aria-label={`Deliveries per ${each}`}>
        {bars
          .filter((_, index) => totals[index]! > 0)
          .map(({ at, success, failed, retrying }) => (
            <li key={at}>
              {formatDateTime(at)}: {success} delivered, {failed} failed, {retrying} retrying
            </li>
          ))}
      </ul>
    </>
  );
}
