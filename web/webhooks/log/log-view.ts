import type { DeliveryLine } from '#webhooks/shapes.ts';
import { type EventKind, eventChoices } from '../events.ts';
import { startOf } from '../../design/day.ts';

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
