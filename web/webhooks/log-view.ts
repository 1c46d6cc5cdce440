import type { Attempt, DeliveryLine } from '#webhooks/shapes.ts';
import { startOf } from '../design/day.ts';
import { type EventKind, eventChoices } from './events.ts';

type DeliveryStatus = DeliveryLine['status'];

/** What the delivery log shows: all of it is in the address. Days are the reader's own, `YYYY-MM-DD`, both included. */
export type LogView = {
  status?: DeliveryStatus;
  event?: EventKind;
  from?: string;
  to?: string;
  page?: number;
  /** The delivery whose panel is open. */
  delivery?: string;
};

export const deliveryStatuses = ['Success', 'Retrying', 'Failed'] as const satisfies DeliveryStatus[];
const events: readonly string[] = eventChoices.map(({ id }) => id);
const isStatus = (value: unknown): value is DeliveryStatus =>
  (deliveryStatuses as readonly unknown[]).includes(value);
const isEvent = (value: unknown): value is EventKind => typeof value === 'string' && events.includes(value);
const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));

/** Reads an address with care: what is not understood is left out. */
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

/** Whether anything is left out of the log. */
export const isFiltered = ({ status, event, from, to }: LogView): boolean =>
  [status, event, from, to].some((value) => value !== undefined);

/** The parameters of the console's JSON: days become moments, the last day's end included. */
export function logParameters({
  status,
  event,
  from,
  to,
  page,
}: LogView): Record<string, string | number | undefined> {
  return { status, event, from: from && startOf(from, 0), to: to && startOf(to, 1), page, per_page: 25 };
}

/** "2 of 6" while there may be more by themselves; else how many there were. */
export function sayAttempts({ attempts, status, is_test }: DeliveryLine, mostAttempts: number): string {
  return status === 'Retrying' && !is_test && attempts < mostAttempts
    ? `${attempts} of ${mostAttempts}`
    : String(attempts);
}

/** Why an attempt was made. */
export const triggerWords: Readonly<Record<Attempt['trigger'], string>> = {
  schedule: 'automatic',
  manual: 'by hand',
  test: 'a test',
  replay: 'by a replay',
};

/** What became of an attempt, in a few words. */
export function outcomeOf({ response_status, reason, request_headers }: Attempt): string {
  if (response_status !== null) return `Answered ${response_status}`;
  return request_headers === null && reason !== null ? 'Nothing was sent' : 'No answer';
}

/** Whether an attempt did what it was made for: only a success has no reason. */
export const hasArrived = ({ reason }: Pick<Attempt, 'reason'>): boolean => reason === null;

const grouped = new Intl.NumberFormat();
/** A time that was taken. */
export const sayMs = (ms: number | null): string => (ms === null ? '–' : `${grouped.format(ms)} ms`);

/** JSON with line breaks, for reading; what is no JSON stays as it is. */
export function layOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
