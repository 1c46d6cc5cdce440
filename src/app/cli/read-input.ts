import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Command, Input, Option } from './command.ts';
import { nearest } from '#kit/nearest.ts';
import { serviceOptions } from './service-options.ts';
import { UsageError, type Value } from './values.ts';

/** What every command understands besides its own options. */
const wishes = {
  json: { type: 'boolean', multiple: true },
  help: { type: 'boolean', short: 'h', multiple: true },
} as const satisfies ParseArgsConfig['options'];

type Options = Readonly<Record<string, Option<unknown>>>;

/** What a command line says: how the answer is wished for, where the command runs, and what it takes. */
type Line = { json: boolean; place: Input; input: Input };

/**
 * Reads what stands before and after a command's words.
 * @returns the command's input by name; undefined when help is wished for.
 * @throws UsageError for an unknown, doubled, missing or malformed option or parameter.
 */
export function readInput(
  command: Command,
  before: readonly string[],
  after: readonly string[],
): Omit<Line, 'input'> & { input: Input | undefined } {
  const places = command.at === 'api' ? serviceOptions : {};
  const first = parseStrictly(places, before);
  // What a command has itself means that.
  const { values, positionals } = parseStrictly({ ...places, ...command.options }, after);
  const given = (name: string): readonly (string | boolean)[] => [
    ...(first.values[name] ?? []),
    ...(values[name] ?? []),
  ];
  const json = given('json').length > 0;
  if (given('help').length > 0) return { json, place: {}, input: undefined };
  const parameters = Object.entries(command.parameters);
  if (positionals.length > parameters.length) {
    throw new UsageError(
      `"${positionals[parameters.length]}" is one word too many. Quote a text that has spaces.`,
    );
  }
  const input: Record<string, unknown> = {};
  for (const [index, [name, value]] of parameters.entries()) {
    input[name] = readValue(`<${name}>`, value, positionals[index]);
  }
  for (const [name, option] of Object.entries(command.options)) {
    const isSaid = option.unless !== undefined && values[option.unless] !== undefined;
    input[name] = readOption(`--${name}`, isSaid ? { ...option, isRequired: false } : option, values[name]);
  }
  const place = Object.fromEntries(
    Object.entries(places).map(([name, option]) => {
      const isOwn = Object.hasOwn(command.options, name);
      return [name, readOption(`--${name}`, option, isOwn ? first.values[name] : given(name))];
    }),
  );
  return { json, place, input };
}

type Given = Readonly<Record<string, readonly (string | boolean)[] | undefined>>;

function parseStrictly(known: Options, args: readonly string[]): { values: Given; positionals: string[] } {
  const options: ParseArgsConfig['options'] = { ...wishes };
  for (const [name, { value }] of Object.entries(known)) {
    // Multiple, so that an option which is given twice is refused and not overwritten.
    options[name] = { type: value ? 'string' : 'boolean', multiple: true };
  }
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    return { values: parsed.values as Given, positionals: parsed.positionals };
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(explain(error, Object.keys(options)), { cause: error });
    throw error;
  }
}

/** The sentence of `parseArgs`, and what a misspelt option may have meant. */
function explain({ message }: TypeError, names: readonly string[]): string {
  const [sentence, unknown] = /^Unknown option '--([\w-]+)'/.exec(message) ?? [];
  const [meant] = unknown === undefined ? [] : nearest(unknown, names);
  if (sentence === undefined) return message;
  return `${sentence}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`;
}

function readOption(
  name: string,
  { value, isRequired }: Option<unknown>,
  given: Given[string] = [],
): unknown {
  if (given.length > 1) throw new UsageError(`${name} is given twice.`);
  if (!value) return given.length === 1;
  return isRequired || given.length === 1 ? readValue(name, value, given[0]) : undefined;
}

function readValue(name: string, value: Value<unknown>, given: string | boolean | undefined): unknown {
  if (typeof given !== 'string') throw new UsageError(`${name} is missing.`);
  const read = value.read(given);
  if (read === undefined) throw new UsageError(`${name} "${given}" must be ${value.mustBe}.`);
  return read;
}
