import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearest } from '#kit/nearest.ts';
import { type Command, type Input, type Option, optional } from './command.ts';
import type { Remote } from './remote-api.ts';
import { id, readTextFile, text, UsageError, type Value } from './values.ts';

/**
 * The options that say where an operation runs. Before the command's words they always mean this, even if the command has an
 * option of the same name (`--url` of a webhook).
 */
export const serviceOptions: Readonly<Record<string, Option<unknown>>> = {
  url: {
    ...optional(text('<url>')),
    about:
      "Another service's address; before the command's words where it has a --url of its own. Else FORMLOOM_URL.",
  },
  key: {
    ...optional(text('<key>')),
    about:
      'Its API key. Others on the machine may see a command line: better FORMLOOM_API_KEY or --key-file.',
  },
  'key-file': { ...optional(text('<file>')), about: 'A file with the key.' },
  workspace: {
    ...optional(id),
    about: 'Of this database, where the command names nothing that lies in one. A key has its own.',
  },
};

/** Where a command runs: at another service, or on this database, in a workspace where one is named. */
export type Place = { remote: Remote } | { remote: undefined; workspace: string | undefined };

/** @throws UsageError for options that exclude each other; the message never has a key. */
export function readPlace(given: Input, environment: NodeJS.ProcessEnv): Place {
  const { url, key, 'key-file': keyFile, workspace } = given as Record<string, string | undefined>;
  const address = url ?? (environment['FORMLOOM_URL'] || undefined);
  if (address === undefined) {
    if (key !== undefined || keyFile !== undefined)
      throw new UsageError('A key goes with --url: on the database of this machine none is asked for.');
    return { remote: undefined, workspace };
  }
  if (workspace !== undefined)
    throw new UsageError(
      '--workspace is for the database of this machine: at another service the key has its own.',
    );
  if (key !== undefined && keyFile !== undefined)
    throw new UsageError('--key and --key-file exclude each other.');
  const found =
    key ?? (keyFile === undefined ? environment['FORMLOOM_API_KEY'] : readTextFile(keyFile).trim());
  if (!found) throw new UsageError('A service at --url takes a key: FORMLOOM_API_KEY, --key-file or --key.');
  if (!/^[\x21-\x7e]+$/.test(found)) throw new UsageError('The key has characters that no key has.');
  return { remote: { url: readUrl(address), key: found } };
}

function readUrl(given: string): URL {
  const url = URL.parse(given);
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== ''
  )
    throw new UsageError('The address of a service is like https://forms.example.com.');
  return url;
}

/** The options that every command has. */
const wishes = {
  json: { type: 'boolean', multiple: true },
  help: { type: 'boolean', short: 'h', multiple: true },
} as const satisfies ParseArgsConfig['options'];

type Options = Readonly<Record<string, Option<unknown>>>;

/** A command line: the format of the answer, where the command runs, and its input. */
type Line = { json: boolean; place: Input; input: Input };

/**
 * Reads the words before and after the name of a command.
 * @returns the command's input by name; undefined for `--help`.
 * @throws UsageError for an unknown, doubled, missing or malformed option or parameter.
 */
export function readInput(
  command: Command,
  before: readonly string[],
  after: readonly string[],
): Omit<Line, 'input'> & { input: Input | undefined } {
  const places = command.at === 'api' ? serviceOptions : {};
  const first = parseStrictly(places, before);
  // After its name, an option of the command itself goes first.
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
    // Multiple, so that an option that is given twice is refused and not overwritten.
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

/** Returns the sentence of `parseArgs`, with the option that a misspelt one may mean. */
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
