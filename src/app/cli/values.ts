import { isRecord } from '#ast/json.ts';
import { isDate } from '#ast/rules/text-formats.ts';
import { uuidPattern } from '#kit/clock.ts';
import { type EventKind, eventKinds, isEventKind } from '#webhooks/event.ts';
import { isPlan, type Plan, plans } from '#workspaces/plans.ts';
import { isRole, type Role, roleNames } from '#workspaces/roles.ts';

/** The command line cannot be understood: exit 2, with the usage. */
export class UsageError extends Error {}

/** How a text of the command line becomes a value. */
export type Value<T> = {
  /** What stands for it in the usage. */
  readonly shows: string;
  /** What it must be, in words. */
  readonly mustBe: string;
  /** Undefined when it is not that. */
  readonly read: (given: string) => T | undefined;
};

export const text = (shows: string): Value<string> => ({ shows, mustBe: 'a text', read: (given) => given });

export const id: Value<string> = {
  shows: '<id>',
  mustBe: 'an id, such as a list prints',
  read: (given) => (uuidPattern.test(given) ? given.toLowerCase() : undefined),
};

export const plan: Value<Plan> = {
  shows: Object.keys(plans).join('|'),
  mustBe: `one of ${Object.keys(plans).join(', ')}`,
  read: (given) => (isPlan(given) ? given : undefined),
};

export const role: Value<Role> = {
  shows: roleNames.join('|'),
  mustBe: `one of ${roleNames.join(', ')}`,
  read: (given) => (isRole(given) ? given : undefined),
};

export const event: Value<EventKind> = {
  shows: '<event>',
  mustBe: `one of ${eventKinds.join(', ')}`,
  read: (given) => (isEventKind(given) ? given : undefined),
};

export const wholeNumber: Value<number> = {
  shows: '<n>',
  mustBe: 'a whole number',
  read: (given) => (/^\d{1,15}$/.test(given) ? Number(given) : undefined),
};

export const list: Value<string[]> = {
  shows: '<a,b>',
  mustBe: 'names separated by commas',
  read(given) {
    const items = given.split(',').map((item) => item.trim());
    return items.includes('') ? undefined : items;
  },
};

/** A condition of the form language. What it names is checked where the form is known. */
export const condition: Value<object> = {
  shows: '<json>',
  mustBe: 'a condition as JSON, such as {"element":"country","is":"equals","value":"Germany"}',
  read(given) {
    try {
      const found: unknown = JSON.parse(given);
      return isRecord(found) ? found : undefined;
    } catch {
      return undefined;
    }
  },
};

export const ids: Value<string[]> = {
  shows: '<id,id>',
  mustBe: 'ids separated by commas',
  read(given) {
    const items = list.read(given);
    return items?.every((item) => uuidPattern.test(item))
      ? items.map((item) => item.toLowerCase())
      : undefined;
  },
};

const dayOrMoment = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A day, which means its first moment in UTC, or a moment. */
export const date: Value<Date> = {
  shows: '<date>',
  mustBe: 'a day such as 2027-01-31 or a time such as 2027-01-31T18:00:00Z',
  read(given) {
    const day = dayOrMoment.exec(given)?.[1];
    // The 30th of February would become the 2nd of March.
    if (day === undefined || !isDate(day)) return undefined;
    const moment = new Date(given);
    return Number.isNaN(moment.getTime()) ? undefined : moment;
  },
};
