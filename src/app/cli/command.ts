import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import type { Vault } from '#kit/vault.ts';
import type { Api } from '../call-operation.ts';
import type { Value } from './values.ts';

/** What a command of the operator works with. */
export type CommandContext = {
  config: Config;
  database: Database;
  vault: Vault;
  log: Log;
  /** Where the database is, as DATABASE_URL says it. */
  url: string;
  /** The same for a person. */
  description: string;
  /**
   * Lets what cannot be undone through when a person at the terminal says so.
   * @throws UsageError where there is nobody to ask; Declined.
   */
  confirm: (what: string) => Promise<void>;
  /** Says how far it is to whoever waits; a script that wants JSON hears nothing. */
  tell: (line: string) => void;
  /** Aborted when the command is to end, for work that is long and is not ended with the database. */
  signal: AbortSignal | undefined;
};

/** What a command works with that opens its database itself. */
export type BareContext = Pick<CommandContext, 'config' | 'log' | 'tell' | 'signal'>;

/** What a command works with that stands for operations of the API: here, or at another service. */
export type ApiContext = {
  api: Api;
  /** Whether the answer is wanted as one JSON document. */
  json: boolean;
  confirm: CommandContext['confirm'];
  signal: CommandContext['signal'];
  /** Aborted when the reader of standard output is gone. A command that only prints, such as `listen`, then ends. */
  reader: AbortSignal | undefined;
  /** Takes a part of a file to standard output. */
  write: (chunk: Uint8Array) => Promise<void>;
};

/** An option `--name`: with a value, or a flag without one. */
export type Option<T> = {
  readonly value: Value<unknown> | undefined;
  readonly isRequired: boolean;
  /** An option that says what this one would. */
  readonly unless?: string;
  /** The usage in one line leaves it out: many commands have it. */
  readonly isMinor?: boolean;
  /** What it is for, where its name does not say it. */
  readonly about?: string | undefined;
  /** Only for the compiler: the type that the option has in a command's input. */
  readonly type?: T;
};

export const required = <T>(value: Value<T>): Option<T> => ({ value, isRequired: true });
export const optional = <T>(value: Value<T>): Option<T | undefined> => ({ value, isRequired: false });
export const flag: Option<boolean> = { value: undefined, isRequired: false };

export type Input = Readonly<Record<string, unknown>>;

/** Who does the work of a command. Its answer is what `--json` prints; a list is `{ data: [...] }`. */
type Work =
  | { readonly at: 'database'; readonly run: (context: CommandContext, input: Input) => Promise<object> }
  | { readonly at: 'machine'; readonly run: (context: BareContext, input: Input) => Promise<object> }
  /** Undefined: it wrote its answer itself. */
  | { readonly at: 'api'; readonly run: (context: ApiContext, input: Input) => Promise<object | undefined> }
  | { readonly at: 'table'; readonly run: (commands: readonly Command[], input: Input) => Promise<object> };

type About = {
  /** Its words, such as `key create`. */
  readonly name: string;
  readonly summary: string;
  /** More than the summary, for who asks for help. */
  readonly about?: string | undefined;
  /** What a person should know about the answer; `--json` leaves it out. */
  readonly note?: string | ((input: Input) => string);
  /** Whether the key of now becomes the one that the database is used with (kit/instance-key). */
  readonly replacesKey?: boolean;
  /** Whether it makes a database where there is none; every other command says where it looked. */
  readonly makesDatabase?: boolean;
  /** The answer for a person, where it is not lines or a table. */
  readonly show?: (answer: object) => string;
};

/** A command as the command line knows it. */
export type Command = About &
  Work & {
    /** What follows its words, in order; all are required. */
    readonly parameters: Readonly<Record<string, Value<unknown>>>;
    readonly options: Readonly<Record<string, Option<unknown>>>;
  };

/**
 * Ends a command that has an answer and did not succeed: the answer is printed, the message goes to standard error.
 * Exit code 1, or that of `as`.
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

/** A person was asked to confirm, and declined; or the command was ended by a signal. */
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
type Definition<P, O, Context, Answer = object> = About & {
  parameters?: P;
  options?: O;
  run: (context: Context, input: InputOf<P, O>) => Promise<Answer>;
};

function declared<P extends Values, O extends Options, Context, Answer>(
  definition: Definition<P, O, Context, Answer>,
) {
  const { parameters = {}, options = {}, run, ...rest } = definition;
  // read-input.ts makes the input by these very declarations.
  const runWith = (context: Context, input: Input) => run(context, input as InputOf<P, O>);
  return { ...rest, parameters, options, run: runWith };
}

/** Declares a command of the operator, on the database alone: its input's types follow from what it takes. */
export const command = <P extends Values = None, O extends Options = None>(
  definition: Definition<P, O, CommandContext>,
): Command => ({ at: 'database', ...declared(definition) });

/** Declares a command of the operator that opens its database itself. */
export const machineCommand = <P extends Values = None, O extends Options = None>(
  definition: Definition<P, O, BareContext>,
): Command => ({ at: 'machine', ...declared(definition) });

/** Declares a command that is another name for operations of the API, here or at another service. */
export const apiCommand = <P extends Values = None, O extends Options = None>(
  definition: Definition<P, O, ApiContext, object | undefined>,
): Command => ({ at: 'api', ...declared(definition) });
