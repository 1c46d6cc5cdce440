import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Command, Option } from './command.ts';
import { UsageError, type Value } from './values.ts';

/** What every command understands besides its own options. */
const wishes = {
  json: { type: 'boolean', multiple: true },
  help: { type: 'boolean', short: 'h', multiple: true },
} as const satisfies ParseArgsConfig['options'];

/**
 * Reads what follows a command's two words.
 * @returns whether JSON is wished for, and the command's input by name; undefined when help is wished for.
 * @throws UsageError for an unknown, doubled, missing or malformed option or parameter.
 */
export function readInput(
  command: Command,
  args: readonly string[],
): { json: boolean; input: Record<string, unknown> | undefined } {
  const { values, positionals } = parseStrictly(command, args);
  const json = values['json'] !== undefined;
  if (values['help'] !== undefined) return { json, input: undefined };
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
    input[name] = readOption(`--${name}`, option, values[name]);
  }
  return { json, input };
}

type Given = Readonly<Record<string, readonly (string | boolean)[] | undefined>>;

function parseStrictly(command: Command, args: readonly string[]): { values: Given; positionals: string[] } {
  const options: ParseArgsConfig['options'] = { ...wishes };
  for (const [name, { value }] of Object.entries(command.options)) {
    // Multiple, so that an option which is given twice is refused and not overwritten.
    options[name] = { type: value ? 'string' : 'boolean', multiple: true };
  }
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    return { values: parsed.values as Given, positionals: parsed.positionals };
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
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
