import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import type { Vault } from '#kit/vault.ts';
import type { Value } from './values.ts';

/** What a command works with. */
export type CommandContext = {
  config: Config;
  database: Database;
  vault: Vault;
  log: Log;
  /** Where the database is, for a person. */
  description: string;
};

/** An option `--name`: with a value, or a flag without one. */
export type Option<T> = {
  readonly value: Value<unknown> | undefined;
  readonly isRequired: boolean;
  /** Only for the compiler: the type that the option has in a command's input. */
  readonly type?: T;
};

export const required = <T>(value: Value<T>): Option<T> => ({ value, isRequired: true });
export const optional = <T>(value: Value<T>): Option<T | undefined> => ({ value, isRequired: false });
export const flag: Option<boolean> = { value: undefined, isRequired: false };

/** A command as the command line knows it. */
export type Command = {
  /** Its two words, such as `key create`. */
  readonly name: string;
  readonly summary: string;
  /** What follows the two words, in order; all are required. */
  readonly parameters: Readonly<Record<string, Value<unknown>>>;
  readonly options: Readonly<Record<string, Option<unknown>>>;
  /** What a person should know about the answer; `--json` leaves it out. */
  readonly note?: string;
  /** Whether the key of now becomes the one that the database is used with (kit/instance-key). */
  readonly replacesKey?: boolean;
  /** Whether it makes a database where there is none; every other command says where it looked. */
  readonly makesDatabase?: boolean;
  /** Does the work. Its answer is what `--json` prints; a list is `{ data: [...] }`. */
  readonly run: (context: CommandContext, input: Readonly<Record<string, unknown>>) => Promise<object>;
};

/**
 * Ends a command that did only a part of what was asked: its answer is printed as ever, what was not done is said on
 * standard error, and the exit code is 1.
 */
export class PartlyDone extends Error {
  override readonly name = 'PartlyDone';
  readonly answer: object;
  constructor(message: string, answer: object) {
    super(message);
    this.answer = answer;
  }
}

type InputOf<P, O> = {
  readonly [K in keyof P]: P[K] extends Value<infer T> ? T : never;
} & {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};

type None = Readonly<Record<string, never>>;

/** Declares a command: the types of its input follow from its parameters and options. */
export function command<
  P extends Record<string, Value<unknown>> = None,
  O extends Record<string, Option<unknown>> = None,
>(definition: {
  name: string;
  summary: string;
  parameters?: P;
  options?: O;
  note?: string;
  replacesKey?: boolean;
  makesDatabase?: boolean;
  run: (context: CommandContext, input: InputOf<P, O>) => Promise<object>;
}): Command {
  const { parameters = {}, options = {}, run, ...rest } = definition;
  // read-input.ts makes the input by these very declarations.
  return { ...rest, parameters, options, run: (context, input) => run(context, input as InputOf<P, O>) };
}
