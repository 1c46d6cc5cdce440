import type { TObject } from 'typebox';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import type { Vault } from '#kit/vault.ts';
import type { Api } from '../operations/call-operation.ts';
import {
  base64,
  choice,
  date,
  id,
  json,
  list,
  orFile,
  text,
  UsageError,
  type Value,
  wholeNumber,
} from './values.ts';

/** What a command on the database works with. */
export type CommandContext = {
  config: Config;
  database: Database;
  vault: Vault;
  log: Log;
  /** The address of the database, in the form of DATABASE_URL. */
  url: string;
  /** The same for a person, without a password. */
  description: string;
  /**
   * Asks the person at the terminal to confirm what cannot be undone.
   * @throws UsageError without a terminal; Declined.
   */
  confirm: (what: string) => Promise<void>;
  /** Reports progress on standard error; with `--json` it writes nothing. */
  tell: (line: string) => void;
  /** Aborted by a signal, for long work that does not end when the database closes. */
  signal: AbortSignal | undefined;
};

/** What a command that opens its database itself works with. */
export type BareContext = Pick<CommandContext, 'config' | 'log' | 'tell' | 'signal'>;

/** What a command that calls operations works with, here or at another service. */
export type ApiContext = {
  api: Api;
  json: boolean;
  confirm: CommandContext['confirm'];
  signal: CommandContext['signal'];
  /** Aborted when standard output is no longer read. A command that only prints, such as `listen`, then ends. */
  reader: AbortSignal | undefined;
  /** Writes a part of a file to standard output. */
  write: (chunk: Uint8Array) => Promise<void>;
};

/** An option `--name`: with a value, or a flag without one. */
export type Option<T> = {
  readonly value: Value<unknown> | undefined;
  readonly isRequired: boolean;
  /** The name of an option that replaces this one. */
  readonly unless?: string;
  /** Left out of the usage line, because many commands have it. */
  readonly isMinor?: boolean;
  readonly about?: string | undefined;
  /** Only for the compiler: the type that the option has in a command's input. */
  readonly type?: T;
};

export const required = <T>(value: Value<T>): Option<T> => ({ value, isRequired: true });
export const optional = <T>(value: Value<T>): Option<T | undefined> => ({ value, isRequired: false });
export const flag: Option<boolean> = { value: undefined, isRequired: false };

export type Input = Readonly<Record<string, unknown>>;

/** What a command works with, by where it works: on the database, on this machine, as the API, or on the commands themselves. */
type Contexts = {
  database: CommandContext;
  machine: BareContext;
  api: ApiContext;
  table: readonly Command[];
};

/** Does the work of a command. `--json` prints its answer; a list is `{ data: [...] }`; undefined: it wrote its answer itself. */
type Work = {
  [At in keyof Contexts]: {
    readonly at: At;
    readonly run: (context: Contexts[At], input: Input) => Promise<object | undefined>;
  };
}[keyof Contexts];

type About = {
  /** Its words, such as `key create`. */
  readonly name: string;
  readonly summary: string;
  /** Help below the summary. */
  readonly about?: string | undefined;
  /** Printed below the answer, but not with `--json`. */
  readonly note?: string | ((input: Input) => string);
  /** Whether the database is used with the current key from now on (kit/instance-key). */
  readonly replacesKey?: boolean;
  /** Whether it creates a missing database; every other command fails and says where it looked. */
  readonly makesDatabase?: boolean;
  /** Formats the answer for a person; by default as lines or a table. */
  readonly show?: (answer: object) => string;
};

export type Command = About &
  Work & {
    /** The words after its name, in order; all are required. */
    readonly parameters: Readonly<Record<string, Value<unknown>>>;
    readonly options: Readonly<Record<string, Option<unknown>>>;
  };

/**
 * Ends a command that has an answer but did not succeed: prints the answer, and the message on standard error.
 * Exit code 1, or 2 if forms differ.
 */
export class PartlyDone extends Error {
  override readonly name = 'PartlyDone';
  readonly answer: object;
  /** The `error` of `--json`. */
  readonly code: 'partly_done' | 'differs';
  constructor(message: string, answer: object, as: PartlyDone['code'] = 'partly_done') {
    super(message);
    this.answer = answer;
    this.code = as;
  }
}

/** A person declined to confirm, or a signal ended the command. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

type InputOf<P, O> = {
  readonly [K in keyof P]: P[K] extends Value<infer T> ? T : never;
} & {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};

type None = Readonly<Record<string, never>>;
type Values = Record<string, Value<unknown>>;
type Options = Record<string, Option<unknown>>;
type Definition<P, O, Context> = About & {
  parameters?: P;
  options?: O;
  run: (context: Context, input: InputOf<P, O>) => Promise<object | undefined>;
};

/** Returns what declares commands of one kind: the types of their input follow from their parameters and options. */
const declaring =
  <At extends keyof Contexts>(at: At) =>
  <P extends Values = None, O extends Options = None>(definition: Definition<P, O, Contexts[At]>) => {
    const { parameters = {}, options = {}, run, ...rest } = definition;
    // read-input.ts makes the input by these declarations.
    const runWith = (context: Contexts[At], input: Input) => run(context, input as InputOf<P, O>);
    return { at, ...rest, parameters, options, run: runWith };
  };

/** Declares a command of the operator on the database. */
export const command = declaring('database');
/** Declares a command of the operator that opens its database itself. */
export const machineCommand = declaring('machine');
/** Declares a command that calls operations of the API, here or at another service. */
export const apiCommand = declaring('api');
/** Declares a command about the commands. */
export const tableCommand = declaring('table');

/** The part of JSON Schema that the command line reads. */
type Schema = {
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  contentEncoding?: string;
  readOnly?: boolean;
  anyOf?: readonly Schema[];
  items?: Schema;
  description?: string;
  default?: unknown;
};

/** `per_page` is `--per-page`. */
export const optionName = (field: string): string => field.replaceAll('_', '-');

/**
 * Returns the fields of a query or a body as options, each by its schema: a text, a choice, a list with commas, JSON. Texts, data
 * and JSON take `@file`. A boolean is `--name` or `--no-name`; `--no-name` of a nullable field is null.
 * @param unless an option that can replace all of them.
 */
export function optionsOf(schema: TObject, unless?: string): Record<string, Option<unknown>> {
  const required = new Set<string>(schema.required ?? []);
  const options: Record<string, Option<unknown>> = {};
  for (const [field, property] of Object.entries(schema.properties as Record<string, Schema>)) {
    if (property.readOnly) continue;
    const name = optionName(field);
    const value = valueOf(property);
    const about = describe(property);
    options[name] = {
      value,
      isRequired: required.has(field) && value !== undefined,
      about,
      ...(unless && { unless }),
    };
    if (value === undefined || isNullable(property)) options[`no-${name}`] = flag;
  }
  return options;
}

/** Returns the fields for options that `optionsOf` declared. */
export function fieldsOf(schema: TObject, input: Input): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [field, property] of Object.entries(schema.properties as Record<string, Schema>)) {
    const name = optionName(field);
    const isYes = isYesOrNo(property);
    const isNo = input[`no-${name}`] === true;
    // A missing flag is false.
    const isSaid = isYes ? input[name] === true : input[name] !== undefined;
    if (isNo && isSaid) throw new UsageError(`--${name} and --no-${name} exclude each other.`);
    if (isNo) fields[field] = isYes ? false : null;
    else if (isSaid) fields[field] = input[name];
  }
  return fields;
}

/** Returns how the text of one field is read; undefined for a boolean. */
export function valueOf(given: Schema): Value<unknown> | undefined {
  if (isYesOrNo(given)) return undefined;
  const schema = withoutNull(given);
  const words = wordsOf(schema);
  if (words) return choice(words);
  const { type, format, items } = schema;
  if (type === 'array' && items && isText(items)) return listOf(items);
  if (type === 'integer') return wholeNumber;
  if (type === 'number') return number;
  if (type !== 'string') return json;
  if (format === 'uuid') return id;
  if (format === 'date-time') return moment;
  return schema.contentEncoding === 'base64' ? base64 : orFile(text('<text>'));
}

const withoutNull = (schema: Schema): Schema => {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return others.length === 1 ? others[0]! : schema;
};

const isNullable = (schema: Schema): boolean => schema.anyOf?.some(({ type }) => type === 'null') ?? false;

const isYesOrNo = (schema: Schema): boolean =>
  schema.type === 'boolean' || wordsOf(schema)?.toSorted().join() === 'false,true';

const isText = (schema: Schema): boolean => schema.type === 'string' || wordsOf(schema) !== undefined;

function wordsOf({ enum: words, const: word, anyOf }: Schema): string[] | undefined {
  const found = words ?? (word === undefined ? anyOf?.map((branch) => branch.const) : [word]);
  return found && found.length > 0 && found.every((each) => typeof each === 'string')
    ? [...found]
    : undefined;
}

const number: Value<number> = {
  shows: '<n>',
  mustBe: 'a number',
  read: (given) => (/^-?\d+(\.\d+)?$/.test(given) ? Number(given) : undefined),
};

/** A day or a time, as text. */
const moment: Value<string> = { ...date, read: (given) => date.read(given)?.toISOString() };

/** Texts separated by commas; JSON if a text has a comma. */
function listOf(items: Schema): Value<unknown> {
  const each = valueOf(items)!;
  const shows = each.choices?.join('|') === each.shows ? `<${each.choices.join(',')}>` : list.shows;
  return {
    ...each,
    shows,
    mustBe: `${each.choices ? `some of ${each.choices.join(', ')}` : each.mustBe}, with commas between them, or JSON`,
    read(given) {
      if (/^(\[|@(?!@))/.test(given)) return json.read(given);
      const read = list.read(given)?.map((item) => each.read(item));
      return read?.includes(undefined) ? undefined : read;
    },
  };
}

function describe({ description, default: usual }: Schema): string | undefined {
  const parts = [description, usual === undefined ? undefined : `Without it: ${JSON.stringify(usual)}.`];
  return parts.filter(Boolean).join(' ') || undefined;
}
