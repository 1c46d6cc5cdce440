import './health.css';
import type { ReactElement } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { StatusChip } from '../../design/chip.tsx';
import { Ago } from '../../design/time.tsx';

const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const count = new Intl.NumberFormat();

/** The part of a day's deliveries that arrived, of those whose end is known; the words say what the bar shows. */
export function DayHealth({ day }: Pick<Webhook, 'day'>): ReactElement {
  const { success, failed, retrying } = day;
  const total = success + failed + retrying;
  if (total === 0) return <span className="soft">No deliveries</span>;
  const parts = [
    ['health-good', success, 'delivered'],
    ['health-warn', retrying, 'retrying'],
    ['health-bad', failed, 'failed'],
  ] as const;
  const known = success + failed;
  return (
    <div className="health">
      <span className="health-share numeric">
        {known > 0 && share.format(success / known)}
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

/** What became of the newest delivery, and when it began. */
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
