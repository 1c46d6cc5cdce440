import { readFileSync } from 'node:fs';
import { isRecord } from '#ast/json.ts';
import { isDate } from '#ast/rules/text-formats.ts';
import { uuidPattern } from '#kit/clock.ts';
import { type Plan, plans } from '#workspaces/plans.ts';
import { type Role, roleNames } from '#workspaces/roles.ts';

/** The command line cannot be understood: exit 2, with the usage. */
export class UsageError extends Error {}

/** How a text of the command line becomes a value. */
export type Value<T> = {
  /** What stands for it in the usage. */
  readonly shows: string;
  readonly mustBe: string;
  /** All that it may be, where that is a few words. */
  readonly choices?: readonly string[];
  /** It may name a file. */
  readonly isFile?: boolean;
  /** Undefined when it is not that. */
  readonly read: (given: string) => T | undefined;
};

export const text = (shows: string): Value<string> => ({ shows, mustBe: 'a text', read: (given) => given });

export const id: Value<string> = {
  shows: '<id>',
  mustBe: 'an id, such as a list prints',
  read: (given) => (uuidPattern.test(given) ? given.toLowerCase() : undefined),
};

/** Words that are longer in all stand in the help of the command alone. */
const mostShown = 70;

export const choice = <const Word extends string>(words: readonly Word[]): Value<Word> => ({
  shows: words.join('|').length > mostShown ? '<word>' : words.join('|'),
  mustBe: `one of ${words.join(', ')}`,
  choices: words,
  read: (given) => words.find((word) => word === given),
});

/** An address of the web, of this machine too. */
export const webAddress: Value<URL> = {
  shows: '<url>',
  mustBe: 'an address that begins with http:// or https://',
  read(given) {
    const url = URL.parse(given);
    return url && /^https?:$/.test(url.protocol) ? url : undefined;
  },
};

export const plan: Value<Plan> = choice(Object.keys(plans) as Plan[]);
export const role: Value<Role> = choice(roleNames);

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

/** A text that may be long, given as it is or as `@file`. */
export const longText: Value<string> = {
  shows: '<text|@file>',
  mustBe: 'a text, or @ and the name of a file of it',
  isFile: true,
  read: (given) => (given.startsWith('@') ? readTextFile(given.slice(1)) : given),
};

/** JSON, given as it is or as `@file`. */
export const json: Value<unknown> = {
  shows: '<json|@file>',
  mustBe: 'JSON, or @ and the name of a file of it',
  isFile: true,
  read(given) {
    try {
      return JSON.parse(given.startsWith('@') ? readTextFile(given.slice(1)) : given) as unknown;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  },
};

/** A file of JSON that holds an object; `-`: what comes on standard input. */
export const jsonFile: Value<Record<string, unknown>> = {
  shows: '<file>',
  mustBe: 'the name of a file with a JSON object',
  isFile: true,
  read(given) {
    const found = json.read(`@${given}`);
    return isRecord(found) ? found : undefined;
  },
};

/** @throws UsageError for a file that is not there, or is not text in UTF-8. `-` is standard input. */
export function readTextFile(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path === '-' ? 0 : path));
  } catch (cause) {
    throw new UsageError(`${path} cannot be read as text in UTF-8.`, { cause });
  }
}

/** A file as it is; `-`: what comes on standard input. */
export const bytesFile: Value<Buffer> = {
  shows: '<file>',
  mustBe: 'the name of a file',
  isFile: true,
  read(given) {
    try {
      return readFileSync(given === '-' ? 0 : given);
    } catch (cause) {
      throw new UsageError(`${given} cannot be read.`, { cause });
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
