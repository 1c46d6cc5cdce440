import { leastIdAt, now } from '#kit/clock.ts';
import { double, type Queryable, statement, timestamp } from '#kit/statement.ts';
import type { WebhookHealth } from '../shapes.ts';

/** A webhook's deliveries whose id is at least `since`, tests left out: by time and status, with their latency. */
const selectDeliveryHealth = statement(
  'webhooks.select_delivery_health',
  [
    'workspace_id webhook_id since:uuid',
    {
      /** The width of a bar, in seconds. */
      bar: double,
      /** Where the first bar begins. */
      origin: timestamp,
    },
  ],
  'at success failed retrying',
  `select date_bin(make_interval(secs => $bar), created_at, $origin) as at,
          count(*) filter (where status = 'Success') as success,
          count(*) filter (where status = 'Failed') as failed,
          count(*) filter (where status = 'Retrying') as retrying
     from deliveries
    where workspace_id = $workspace_id and webhook_id = $webhook_id and id >= $since and not is_test
    group by 1`,
);

const findDeliveryLatency = statement(
  'webhooks.find_delivery_latency',
  'workspace_id webhook_id since:uuid',
  'p50:integer? p95:integer?',
  `select percentile_disc(0.5) within group (order by response_ms) as p50,
          percentile_disc(0.95) within group (order by response_ms) as p95
     from deliveries
    where workspace_id = $workspace_id and webhook_id = $webhook_id and id >= $since and not is_test
      and response_status is not null`,
);

type Counts = { success: number; failed: number; retrying: number };
type Bar = Counts & { at: string };

const hourMs = 60 * 60 * 1_000;
/** Bars end with the running hour or day of UTC, so that they stay the same while it lasts. */
const spans = { day: { bars: 24, barMs: hourMs }, week: { bars: 7, barMs: 24 * hourMs } } as const;

/** How a webhook fared in the last 24 hours and the last 7 days. */
export async function readHealth(
  db: Queryable,
  webhook: { workspaceId: string; webhookId: string },
): Promise<WebhookHealth> {
  const [day, week] = await Promise.all([readSpan(db, webhook, 'day'), readSpan(db, webhook, 'week')]);
  return { day: day.window, week: week.window, hours: day.bars, days: week.bars };
}

async function readSpan(
  db: Queryable,
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
  span: keyof typeof spans,
): Promise<{ window: WebhookHealth['day']; bars: Bar[] }> {
  const { bars: count, barMs } = spans[span];
  const last = Math.floor(now().getTime() / barMs) * barMs;
  const times = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * barMs);
  const origin = new Date(times[0]!);
  const place = { workspace_id: workspaceId, webhook_id: webhookId, since: leastIdAt(origin) };
  const [rows, [latency]] = await Promise.all([
    selectDeliveryHealth(db, { ...place, bar: barMs / 1_000, origin }),
    findDeliveryLatency(db, place),
  ]);
  const byTime = new Map(rows.map(({ at, ...counts }) => [at.getTime(), counts]));
  const none: Counts = { success: 0, failed: 0, retrying: 0 };
  const bars = times.map((at) => ({ at: new Date(at).toISOString(), ...(byTime.get(at) ?? none) }));
  const sum = (name: keyof Counts): number => bars.reduce((total, bar) => total + bar[name], 0);
  return {
    bars,
    window: {
      success: sum('success'),
      failed: sum('failed'),
      retrying: sum('retrying'),
      p50_ms: latency!.p50,
      p95_ms: latency!.p95,
    },
  };
}
