import { readFileSync } from 'node:fs';
import { isRecord } from '#ast/basics/json.ts';
import { isDate } from '#ast/rules/text-formats.ts';
import { uuidPattern } from '#kit/clock.ts';
import { type Role, roleNames } from '#rules/permissions.ts';
import { type Plan, plans } from '#workspaces/authenticate.ts';

/** An invalid command line. The exit code is 2, and the usage is printed. */
export class UsageError extends Error {
  help: string | undefined;
  constructor(message: string, { help, cause }: { help?: string; cause?: unknown } = {}) {
    super(message, { cause });
    this.help = help;
  }
}

/** How a value on the command line is read. */
export type ValueReader<T> = {
  /** The placeholder that the usage shows. */
  readonly shows: string;
  readonly mustBe: string;
  /** The allowed words. */
  readonly choices?: readonly string[];
  readonly isFile?: boolean;
  /** Returns undefined for an invalid text. */
  readonly read: (given: string) => T | undefined;
};

export const textValue = (shows: string): ValueReader<string> => ({
  shows,
  mustBe: 'a text',
  read: (given) => given,
});

export const idValue: ValueReader<string> = {
  shows: '<id>',
  mustBe: 'an id (a UUID)',
  read: (given) => (uuidPattern.test(given) ? given.toLowerCase() : undefined),
};

/** Lists of words that are longer than this are shown only in the help of the command. */
const mostShown = 70;

export const choiceValue = <const Word extends string>(words: readonly Word[]): ValueReader<Word> => ({
  shows: words.join('|').length > mostShown ? '<word>' : words.join('|'),
  mustBe: `one of ${words.join(', ')}`,
  choices: words,
  read: (given) => words.find((word) => word === given),
});

export const urlValue: ValueReader<URL> = {
  shows: '<url>',
  mustBe: 'a URL that begins with http:// or https://',
  read(given) {
    const url = URL.parse(given);
    return url && /^https?:$/.test(url.protocol) ? url : undefined;
  },
};

export const planValue: ValueReader<Plan> = choiceValue(Object.keys(plans) as Plan[]);
export const roleValue: ValueReader<Role> = choiceValue(roleNames);

export const wholeNumberValue: ValueReader<number> = {
  shows: '<n>',
  mustBe: 'a whole number',
  read: (given) => (/^\d{1,15}$/.test(given) ? Number(given) : undefined),
};

export const commaListValue: ValueReader<string[]> = {
  shows: '<a,b>',
  mustBe: 'names separated by commas',
  read(given) {
    const items = given.split(',').map((item) => item.trim());
    return items.includes('') ? undefined : items;
  },
};

/**
 * Lets a value come from a file: `@name` reads the file and `@-` reads standard input. `@@` starts a value
 * that begins with `@`.
 * @param decode turns the bytes of the file into text.
 */
export const valueOrFile = <T>(value: ValueReader<T>, decode = decodeText): ValueReader<T> => ({
  ...value,
  shows: value.shows.replace(/>$/, '|@file>'),
  mustBe: `${value.mustBe}, or @ and a file name`,
  isFile: true,
  read(given) {
    if (!given.startsWith('@') || given.startsWith('@@')) return value.read(given.replace(/^@@/, '@'));
    const path = given.slice(1);
    return value.read(decode(readBytes(path), path));
  },
});

function parseJson(given: string): unknown {
  try {
    return JSON.parse(given) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const jsonValue: ValueReader<unknown> = valueOrFile({
  shows: '<json>',
  mustBe: 'JSON',
  read: parseJson,
});

/** A file with a JSON object; `-` is standard input. */
export const jsonFileValue: ValueReader<Record<string, unknown>> = {
  shows: '<file>',
  mustBe: 'the name of a file with a JSON object',
  isFile: true,
  read(given) {
    const found = parseJson(readTextFile(given));
    return isRecord(found) ? found : undefined;
  },
};

/** The bytes of a file; `-` is standard input. */
export const bytesFileValue: ValueReader<Buffer> = {
  shows: '<file>',
  mustBe: 'the name of a file',
  isFile: true,
  read: (given) => readBytes(given),
};

/** Bytes in base64, or `@file` with the bytes. */
export const base64Value: ValueReader<string> = valueOrFile(textValue('<base64>'), (bytes) =>
  bytes.toString('base64'),
);

/**
 * Reads a text file; `-` is standard input.
 * @throws UsageError for a file that does not exist or is not UTF-8 text.
 */
export const readTextFile = (path: string): string => decodeText(readBytes(path), path);

function decodeText(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`${path} is not UTF-8 text.`, { cause });
  }
}

const fileProblems: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `File not found: ${path}.`,
  EISDIR: (path) => `${path} is a folder, not a file.`,
  EACCES: (path) => `No permission to read ${path}.`,
};

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new UsageError(fileProblems[code]?.(path) ?? `Could not read ${path}: ${message}.`, { cause });
  }
}

const dayOrMoment = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A time, or a date, which means the start of that day in UTC. */
export const dateValue: ValueReader<Date> = {
  shows: '<date>',
  mustBe: 'a date such as 2027-01-31 or a time such as 2027-01-31T18:00:00Z',
  read(given) {
    const day = dayOrMoment.exec(given)?.[1];
    // Without this check, February 30 would become March 2.
    if (day === undefined || !isDate(day)) return undefined;
    const moment = new Date(given);
    return Number.isNaN(moment.getTime()) ? undefined : moment;
  },
};
