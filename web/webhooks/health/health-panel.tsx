import './health-panel.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { WebhookHealth } from '#webhooks/shapes.ts';
import { Message } from '../../design/message.tsx';
import { Loading } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { sayMoment } from '../../design/time.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { sayMs } from '../log/delivery-words.ts';
import { healthQuery } from '../webhooks-query.ts';

type Bars = WebhookHealth['hours'];

/** How a webhook fared: the share that arrived, how long it took, and a chart, for a day and for a week. */
export function HealthPanel({ form, webhook }: { form: LocatedForm; webhook: string }): ReactElement {
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

const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

type SpanProps = { window: WebhookHealth['day']; bars: Bars; each: 'hour' | 'day' };

function Span({ window, bars, each }: SpanProps): ReactElement {
  const known = window.success + window.failed;
  return (
    <div className="stack">
      <dl className="health-figures">
        <div>
          <dt>Arrived</dt>
          <dd>{known === 0 ? '–' : share.format(window.success / known)}</dd>
        </div>
        <div>
          <dt>Half within</dt>
          <dd>{sayMs(window.p50_ms)}</dd>
        </div>
        <div>
          <dt>95% within</dt>
          <dd>{sayMs(window.p95_ms)}</dd>
        </div>
      </dl>
      <Chart bars={bars} each={each} />
    </div>
  );
}

const height = 64;
const step = 10;

/** Stacked bars; what they show is read from the list that follows them. */
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
            At most {highest.toLocaleString()} in {each === 'hour' ? 'an hour' : 'a day'}
          </span>
        )}
        <span>{each === 'hour' ? 'Now' : 'Today'}</span>
      </div>
      <ul className="unseen" aria-label={`Deliveries by the ${each}`}>
        {bars
          .filter((_, index) => totals[index]! > 0)
          .map(({ at, success, failed, retrying }) => (
            <li key={at}>
              {sayMoment(at)}: {success} delivered, {failed} failed, {retrying} retrying
            </li>
          ))}
      </ul>
    </>
  );
}
