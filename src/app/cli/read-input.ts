import { type ParseArgsConfig, parseArgs } from 'node:util';
import { findNearestNames } from '#kit/nearest-names.ts';
import { type Command, type CommandInput, type CommandOption, optionalOption } from './command.ts';
import type { Remote } from './remote-api.ts';
import { idValue, readTextFile, textValue, UsageError, type ValueReader } from './values.ts';

/**
 * The options that say where an operation runs. Before the command's words, they always have this meaning,
 * even if the command has an option with the same name (`--url` of a webhook).
 */
export const targetOptions: Readonly<Record<string, CommandOption<unknown>>> = {
  url: {
    ...optionalOption(textValue('<url>')),
    about:
      'The URL of another server. Put it before the command if the command has its own --url. Default: FORMLOOM_URL.',
  },
  key: {
    ...optionalOption(textValue('<key>')),
    about:
      'The API key for --url. Other users of this machine can see command lines, so prefer FORMLOOM_API_KEY or --key-file.',
  },
  'key-file': { ...optionalOption(textValue('<file>')), about: 'A file with the API key.' },
  workspace: {
    ...optionalOption(idValue),
    about:
      'The workspace in this database. Only needed if the command does not name an object in a workspace. An API key already determines its workspace.',
  },
};

/** Where a command runs: on another server, or on this database in an optional workspace. */
export type CommandTarget = { remote: Remote } | { remote: undefined; workspace: string | undefined };

/**
 * Returns where a command runs.
 * @throws UsageError for options that cannot be combined. The message never contains the key.
 */
export function readCommandTarget(given: CommandInput, environment: NodeJS.ProcessEnv): CommandTarget {
  const { url, key, 'key-file': keyFile, workspace } = given as Record<string, string | undefined>;
  const address = url ?? (environment['FORMLOOM_URL'] || undefined);
  if (address === undefined) {
    if (key !== undefined || keyFile !== undefined)
      throw new UsageError(
        'API keys are only used with --url. The database of this machine does not need one.',
      );
    return { remote: undefined, workspace };
  }
  if (workspace !== undefined)
    throw new UsageError(
      '--workspace only applies to the database of this machine. With --url, the API key determines the workspace.',
    );
  if (key !== undefined && keyFile !== undefined)
    throw new UsageError('--key and --key-file cannot be combined.');
  const found =
    key ?? (keyFile === undefined ? environment['FORMLOOM_API_KEY'] : readTextFile(keyFile).trim());
  if (!found) throw new UsageError('--url requires an API key. Set FORMLOOM_API_KEY, --key-file or --key.');
  if (!/^[\x21-\x7e]+$/.test(found)) throw new UsageError('The API key contains invalid characters.');
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
    throw new UsageError('The URL of a server must look like https://forms.example.com.');
  return url;
}

/** The options that every command has. */
const wishes = {
  json: { type: 'boolean', multiple: true },
  help: { type: 'boolean', short: 'h', multiple: true },
} as const satisfies ParseArgsConfig['options'];

type Options = Readonly<Record<string, CommandOption<unknown>>>;

/** A parsed command line: the output format, where the command runs, and its input. */
type Line = { json: boolean; place: CommandInput; input: CommandInput };

/**
 * Reads the words before and after the name of a command.
 * @returns the command's input by name; undefined for `--help`.
 * @throws UsageError for an unknown, repeated, missing or malformed option or parameter.
 */
export function readInput(
  command: Command,
  before: readonly string[],
  after: readonly string[],
): Omit<Line, 'input'> & { input: CommandInput | undefined } {
  const places = command.at === 'api' ? targetOptions : {};
  const first = parseStrictly(places, before);
  // After the command's name, its own options take precedence.
  const { values, positionals } = parseStrictly({ ...places, ...command.options }, after);
  const given = (name: string): readonly (string | boolean)[] => [
    ...(first.values[name] ?? []),
    ...(values[name] ?? []),
  ];
  const json = given('json').length > 0;
  if (given('help').length > 0) return { json, place: {}, input: undefined };
  const parameters = Object.entries(command.parameters);
  if (positionals.length > parameters.length)
    throw new UsageError(
      `Unexpected argument "${positionals[parameters.length]}". Put text that contains spaces in quotes.`,
    );
  const input: Record<string, unknown> = {};
  for (const [index, [name, value]] of parameters.entries())
    input[name] = readValue(`<${name}>`, value, positionals[index]);
  for (const [name, option] of Object.entries(command.options)) {
    const isGiven = option.unless !== undefined && values[option.unless] !== undefined;
    input[name] = readOption(`--${name}`, isGiven ? { ...option, isRequired: false } : option, values[name]);
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
    // Multiple, so that a repeated option is refused instead of overwritten.
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

/** Returns the message of `parseArgs`, with a suggestion if an option is misspelled. */
function explain({ message }: TypeError, names: readonly string[]): string {
  const [sentence, unknown] = /^Unknown option '--([\w-]+)'/.exec(message) ?? [];
  const [meant] = unknown === undefined ? [] : findNearestNames(unknown, names);
  if (sentence === undefined) return message;
  return `${sentence}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`;
}

function readOption(
  name: string,
  { value, isRequired }: CommandOption<unknown>,
  given: Given[string] = [],
): unknown {
  if (given.length > 1) throw new UsageError(`${name} is specified twice.`);
  if (!value) return given.length === 1;
  return isRequired || given.length === 1 ? readValue(name, value, given[0]) : undefined;
}

function readValue(name: string, value: ValueReader<unknown>, given: string | boolean | undefined): unknown {
  if (typeof given !== 'string') throw new UsageError(`${name} is missing.`);
  const read = value.read(given);
  if (read === undefined) throw new UsageError(`${name} "${given}" must be ${value.mustBe}.`);
  return read;
}
