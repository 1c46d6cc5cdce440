import type { TObject } from 'typebox';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import type { Vault } from '#kit/vault.ts';
import type { Api } from '../operations/call-operation.ts';
import {
  base64Value,
  choiceValue,
  commaListValue,
  dateValue,
  idValue,
  jsonValue,
  textValue,
  UsageError,
  type ValueReader,
  valueOrFile,
  wholeNumberValue,
} from './values.ts';

/** The context of a command that works on the database. */
export type CommandContext = {
  config: Config;
  database: Database;
  vault: Vault;
  log: Log;
  /** The URL of the database, in the format of DATABASE_URL. */
  url: string;
  /** A description of the database for a person, without the password. */
  description: string;
  /**
   * Asks the person at the terminal to confirm an action that cannot be undone.
   * @throws UsageError without a terminal; Declined.
   */
  confirm: (what: string) => Promise<void>;
  /** Reports progress on standard error, or nothing with `--json`. */
  report: (line: string) => void;
  /** Aborted by a signal. Used for long work that does not end when the database closes. */
  signal: AbortSignal | undefined;
};

/** The context of a command that opens its database itself. */
export type MachineCommandContext = Pick<CommandContext, 'config' | 'log' | 'report' | 'signal'>;

/** The context of a command that calls operations of this instance or of another server. */
export type ApiCommandContext = {
  api: Api;
  json: boolean;
  confirm: CommandContext['confirm'];
  signal: CommandContext['signal'];
  /** Aborted when standard output is no longer read. A command that only prints, such as `listen`, then ends. */
  reader: AbortSignal | undefined;
  /** Writes a chunk of a file to standard output. */
  write: (chunk: Uint8Array) => Promise<void>;
};

/** An option `--name` with a value, or a flag without one. */
export type CommandOption<T> = {
  readonly value: ValueReader<unknown> | undefined;
  readonly isRequired: boolean;
  /** The name of an option that replaces this one. */
  readonly unless?: string;
  /** Omitted from the usage line, because many commands have this option. */
  readonly isMinor?: boolean;
  readonly about?: string | undefined;
  /** Only for the type checker: the type of the option in a command's input. */
  readonly type?: T;
};

export const requiredOption = <T>(value: ValueReader<T>): CommandOption<T> => ({ value, isRequired: true });
export const optionalOption = <T>(value: ValueReader<T>): CommandOption<T | undefined> => ({
  value,
  isRequired: false,
});
export const flagOption: CommandOption<boolean> = { value: undefined, isRequired: false };

export type CommandInput = Readonly<Record<string, unknown>>;

/**
 * The context of a command, by what it works on: the database, this machine, the API, or the list of
 * commands.
 */
type Contexts = {
  database: CommandContext;
  machine: MachineCommandContext;
  api: ApiCommandContext;
  table: readonly Command[];
};

/**
 * Runs a command. With `--json`, its result is printed as JSON; a list is `{ data: [...] }`. Undefined if the
 * command printed its result itself.
 */
type Work = {
  [At in keyof Contexts]: {
    readonly at: At;
    readonly run: (context: Contexts[At], input: CommandInput) => Promise<object | undefined>;
  };
}[keyof Contexts];

type About = {
  /** The name of the command, which can be several words, such as `key create`. */
  readonly name: string;
  readonly summary: string;
  /** The help below the summary. */
  readonly about?: string | undefined;
  /** Printed below the result, but not with `--json`. */
  readonly note?: string | ((input: CommandInput) => string);
  /** Whether the command ties the database to the current key (kit/instance-key). */
  readonly replacesKey?: boolean;
  /** Whether the command creates a missing database. All other commands fail and say where they looked. */
  readonly makesDatabase?: boolean;
  /** Formats the result for a person. Default: lines or a table. */
  readonly show?: (answer: object) => string;
};

export type Command = About &
  Work & {
    /** The parameters after the name, in order. All are required. */
    readonly parameters: Readonly<Record<string, ValueReader<unknown>>>;
    readonly options: Readonly<Record<string, CommandOption<unknown>>>;
  };

/**
 * Ends a command that has a result but was not fully successful. The result is printed, and the message goes
 * to standard error. The exit code is 1, or 2 if forms differ.
 */
export class PartialFailureError extends Error {
  override readonly name = 'PartlyDone';
  readonly answer: object;
  /** The `error` in the output of `--json`. */
  readonly code: 'partly_done' | 'differs';
  constructor(message: string, answer: object, as: PartialFailureError['code'] = 'partly_done') {
    super(message);
    this.answer = answer;
    this.code = as;
  }
}

/** Thrown if a person declined to confirm, or if a signal ended the command. */
export class DeclinedError extends Error {
  override readonly name = 'Declined';
}

type InputOf<P, O> = {
  readonly [K in keyof P]: P[K] extends ValueReader<infer T> ? T : never;
} & {
  readonly [K in keyof O]: O[K] extends CommandOption<infer T> ? T : never;
};

type None = Readonly<Record<string, never>>;
type Values = Record<string, ValueReader<unknown>>;
type Options = Record<string, CommandOption<unknown>>;
type Definition<P, O, Context> = About & {
  parameters?: P;
  options?: O;
  run: (context: Context, input: InputOf<P, O>) => Promise<object | undefined>;
};

/**
 * Returns a function that declares commands of one kind. The type of the command's input follows from its
 * parameters and options.
 */
const declaring =
  <At extends keyof Contexts>(at: At) =>
  <P extends Values = None, O extends Options = None>(definition: Definition<P, O, Contexts[At]>) => {
    const { parameters = {}, options = {}, run, ...rest } = definition;
    // This is safe, because read-input.ts builds the input from these declarations.
    const runWith = (context: Contexts[At], input: CommandInput) => run(context, input as InputOf<P, O>);
    return { at, ...rest, parameters, options, run: runWith };
  };

/** Declares an operator command on the database. */
export const defineDatabaseCommand = declaring('database');
/** Declares an operator command that opens its database itself. */
export const defineMachineCommand = declaring('machine');
/** Declares a command that calls operations of the API, on this instance or on another server. */
export const defineApiCommand = declaring('api');
/** Declares a command about the list of commands. */
export const defineCommandListCommand = declaring('table');

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

/** Returns the name of the option for a field: `per_page` is `per-page`. */
export const optionName = (field: string): string => field.replaceAll('_', '-');

/**
 * Returns the fields of a query or a body as options. The schema decides their kind: text, choice,
 * comma-separated list or JSON. Text, data and JSON accept `@file`. A boolean is `--name` or `--no-name`;
 * `--no-name` sets a nullable field to null.
 * @param unless an option that can replace all of these.
 */
export function optionsOfSchema(schema: TObject, unless?: string): Record<string, CommandOption<unknown>> {
  const required = new Set<string>(schema.required ?? []);
  const options: Record<string, CommandOption<unknown>> = {};
  for (const [field, property] of Object.entries(schema.properties as Record<string, Schema>)) {
    if (property.readOnly) continue;
    const name = optionName(field);
    const value = valueReaderOf(property);
    const about = describe(property);
    options[name] = {
      value,
      isRequired: required.has(field) && value !== undefined,
      about,
      ...(unless && { unless }),
    };
    if (value === undefined || isNullable(property)) options[`no-${name}`] = flagOption;
  }
  return options;
}

/** Returns the fields that were set by the options of `optionsOfSchema`. */
export function readFieldsFromOptions(schema: TObject, input: CommandInput): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [field, property] of Object.entries(schema.properties as Record<string, Schema>)) {
    const name = optionName(field);
    const isYes = isYesOrNo(property);
    const isNo = input[`no-${name}`] === true;
    // A flag that was not given is false.
    const isGiven = isYes ? input[name] === true : input[name] !== undefined;
    if (isNo && isGiven) throw new UsageError(`--${name} and --no-${name} cannot be combined.`);
    if (isNo) fields[field] = isYes ? false : null;
    else if (isGiven) fields[field] = input[name];
  }
  return fields;
}

/** Returns a reader for the value of a field; undefined for a boolean. */
export function valueReaderOf(given: Schema): ValueReader<unknown> | undefined {
  if (isYesOrNo(given)) return undefined;
  const schema = withoutNull(given);
  const words = wordsOf(schema);
  if (words) return choiceValue(words);
  const { type, format, items } = schema;
  if (type === 'array' && items && isText(items)) return listOf(items);
  if (type === 'integer') return wholeNumberValue;
  if (type === 'number') return number;
  if (type !== 'string') return jsonValue;
  if (format === 'uuid') return idValue;
  if (format === 'date-time') return moment;
  return schema.contentEncoding === 'base64' ? base64Value : valueOrFile(textValue('<text>'));
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

const number: ValueReader<number> = {
  shows: '<n>',
  mustBe: 'a number',
  read: (given) => (/^-?\d+(\.\d+)?$/.test(given) ? Number(given) : undefined),
};

/** A date or a time, as text. */
const moment: ValueReader<string> = { ...dateValue, read: (given) => dateValue.read(given)?.toISOString() };

/** Reads values separated by commas, or JSON if a value contains a comma. */
function listOf(items: Schema): ValueReader<unknown> {
  const each = valueReaderOf(items)!;
  const shows = each.choices?.join('|') === each.shows ? `<${each.choices.join(',')}>` : commaListValue.shows;
  return {
    ...each,
    shows,
    mustBe: `${each.choices ? `one or more of ${each.choices.join(', ')}` : each.mustBe}, separated by commas, or JSON`,
    read(given) {
      if (/^(\[|@(?!@))/.test(given)) return jsonValue.read(given);
      const read = commaListValue.read(given)?.map((item) => each.read(item));
      return read?.includes(undefined) ? undefined : read;
    },
  };
}

function describe({ description, default: usual }: Schema): string | undefined {
  const parts = [description, usual === undefined ? undefined : `Default: ${JSON.stringify(usual)}.`];
  return parts.filter(Boolean).join(' ') || undefined;
}
