import type { Attempt, DeliveryLine } from '#webhooks/shapes.ts';
import { startOfLocalDay } from '../design/day.ts';
import { type EventKind, eventChoices } from './events.ts';

type DeliveryStatus = DeliveryLine['status'];

/**
 * The state of the delivery log. All of it is in the URL. Days are `YYYY-MM-DD` in the reader's time zone;
 * both are included.
 */
export type LogView = {
  status?: DeliveryStatus;
  event?: EventKind;
  from?: string;
  to?: string;
  page?: number;
  /** The delivery that is open in the panel. */
  delivery?: string;
};

export const deliveryStatuses = ['Success', 'Retrying', 'Failed'] as const satisfies DeliveryStatus[];
const events: readonly string[] = eventChoices.map(({ id }) => id);
const isStatus = (value: unknown): value is DeliveryStatus =>
  (deliveryStatuses as readonly unknown[]).includes(value);
const isEvent = (value: unknown): value is EventKind => typeof value === 'string' && events.includes(value);
const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));

/** Parses the URL parameters and ignores invalid ones. */
export function readLogView(search: Readonly<Record<string, unknown>>): LogView {
  const { status, event, from, to, page, delivery } = search;
  return {
    ...(isStatus(status) && { status }),
    ...(isEvent(event) && { event }),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
    ...(typeof delivery === 'string' && /^[0-9a-f-]{36}$/i.test(delivery) && { delivery }),
  };
}

/** Whether the log is filtered. */
export const isLogFiltered = ({ status, event, from, to }: LogView): boolean =>
  [status, event, from, to].some((value) => value !== undefined);

/**
 * Converts the view to parameters of the API. Days become timestamps; the last day is included until its end.
 */
export function toDeliveryLogParameters({
  status,
  event,
  from,
  to,
  page,
}: LogView): Record<string, string | number | undefined> {
  return {
    status,
    event,
    from: from && startOfLocalDay(from, 0),
    to: to && startOfLocalDay(to, 1),
    page,
    per_page: 25,
  };
}

/** Formats "2 of 6" while automatic retries remain, otherwise the number of attempts. */
export function formatAttempts({ attempts, status, is_test }: DeliveryLine, mostAttempts: number): string {
  return status === 'Retrying' && !is_test && attempts < mostAttempts
    ? `${attempts} of ${mostAttempts}`
    : String(attempts);
}

export const attemptTriggerLabels: Readonly<Record<Attempt['trigger'], string>> = {
  schedule: 'automatic',
  manual: 'manual',
  test: 'a test',
  replay: 'replay',
};

/** Describes the outcome of an attempt. */
export function outcomeOf({ response_status, reason, request_headers }: Attempt): string {
  if (response_status !== null) return `Response ${response_status}`;
  return request_headers === null && reason !== null ? 'Not sent' : 'No response';
}

/** Whether an attempt succeeded. Only failures have a reason. */
export const hasAttemptSucceeded = ({ reason }: Pick<Attempt, 'reason'>): boolean => reason === null;

const grouped = new Intl.NumberFormat();
/** Formats a duration. */
export const formatMilliseconds = (ms: number | null): string =>
  ms === null ? '–' : `${grouped.format(ms)} ms`;

/** Formats JSON with line breaks. Other text stays unchanged. */
export function prettifyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
