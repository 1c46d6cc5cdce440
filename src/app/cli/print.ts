import { isRecord } from '#ast/basics/json.ts';
import { findNearestNames } from '#kit/nearest-names.ts';
import type { Command, CommandOption } from './command.ts';
import { targetOptions } from './read-input.ts';

/**
 * Formats a result and its note for a person: a list (`data`) as a table, anything else with one line for
 * each property.
 * @param width the width of the terminal. Columns that do not fit are named below the table.
 */
export function formatCommandResult(
  answer: object,
  { note, width }: { note?: string | undefined; width?: number | undefined } = {},
): string {
  const isList = 'data' in answer && Array.isArray(answer.data);
  const lines = isList ? [...table(answer.data as Row[], width), ...pageOf(answer)] : pairs(answer);
  return [...lines, ...(note === undefined ? [] : [note])].join('\n');
}

/** Returns a hint about how to read the next page. */
function pageOf(answer: object): string[] {
  const { pagination } = answer as { pagination?: Record<'page' | 'total_pages' | 'total_count', number> };
  if (!pagination || pagination.total_pages <= 1) return [];
  const { page, total_pages: pages, total_count: count } = pagination;
  return [`Page ${page} of ${pages}, ${count} in total. Choose a page with --page, or read all with --all.`];
}

/** Indents further lines of a value, which would look like properties in the column of names. */
function pairs(answer: object): string[] {
  const entries = Object.entries(answer);
  if (entries.length === 0) return ['Done.'];
  const width = Math.max(...entries.map(([name]) => name.length));
  const indent = `\n${' '.repeat(width + 2)}`;
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${linesOf(value).join(indent)}`);
}

/** JSON longer than this is printed over several lines. */
const longestLine = 80;

function linesOf(value: unknown): string[] {
  if (typeof value === 'string') return value.trimEnd().split('\n').map(show);
  const line = show(value);
  return line.length <= longestLine || typeof value !== 'object'
    ? [line]
    : escaped(JSON.stringify(value, null, 2)).split('\n');
}

type Row = Readonly<Record<string, unknown>>;

function table(rows: readonly Row[], width = Number.MAX_SAFE_INTEGER): string[] {
  if (rows.length === 0) return ['None.'];
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  // A column of objects would be unreadable.
  const plain = all.filter((column) => rows.some((row) => !isRecord(row[column])));
  const cells = (row: Row): string[] => plain.map((column) => show(row[column]));
  const lines = [plain, ...rows.map(cells)];
  const widths = plain.map((_, index) => Math.max(...lines.map((line) => line[index]!.length)));
  let room = width;
  const fitting = widths.findIndex((each) => (room -= each + 2) < -2);
  const count = fitting <= 0 ? plain.length : fitting;
  const pad = (cell: string, index: number): string => cell.padEnd(widths[index]!);
  const drawn = lines.map((line) => line.slice(0, count).map(pad).join('  ').trimEnd());
  const left = [...all.filter((column) => !plain.includes(column)), ...plain.slice(count)];
  return left.length === 0
    ? drawn
    : [...drawn, `Not shown: ${left.join(', ')}. Use --json to see everything.`];
}

/**
 * Replaces control characters, which could affect the terminal: names and addresses can contain them. Formats
 * other values as JSON.
 */
function show(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value.replaceAll(/\p{Cc}/gu, '\ufffd');
  return escaped(JSON.stringify(value));
}

const escaped = (text: string): string => text.replaceAll(/(?!\n)\p{Cc}/gu, escape);
const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const program = 'npm run -s formloom --';

const shown = (name: string, { value }: CommandOption<unknown>): string =>
  value ? `--${name} ${value.shows}` : `--${name}`;

/** Returns the usage line: the command, its parameters and its options. */
function usageOf(command: Command): string {
  const parameters = Object.entries(command.parameters).map(([name, { choices, shows }]) =>
    choices ? `<${shows}>` : `<${name}>`,
  );
  const options = Object.entries(command.options)
    .filter(([name, { isMinor }]) => !isMinor && !isOpposite(command, name))
    .map(([name, option]) => (option.isRequired ? shown(name, option) : `[${shown(name, option)}]`));
  return [command.name, ...parameters, ...options].join(' ');
}

/**
 * Whether an option is the `--no-name` of a `--name`. Only the list of options shows it, because the usage
 * line would become twice as long.
 */
const isOpposite = ({ options }: Command, name: string): boolean =>
  name.startsWith('no-') && Object.hasOwn(options, name.slice(3));

const entry = (command: Command): string => `  ${usageOf(command)}\n      ${command.summary}`;

const everywhere =
  '--json prints one JSON document, including for errors. --help explains a command. For <text|@file>, @name reads a file and @- reads standard input. If the text itself begins with @, write @@.';

/** Returns short help for some commands. */
export const helpFor = (commands: readonly Command[]): string =>
  `Usage: ${program} <command>\n\n${commands.map(entry).join('\n')}\n\n  ${everywhere}\n`;

/** Returns the values of an option, if the usage line does not show them. */
const wordsOf = ({ value }: CommandOption<unknown>): string | undefined =>
  value?.choices?.some((word) => !value.shows.includes(word))
    ? `Of: ${value.choices.join(', ')}.`
    : undefined;

/** Returns the full help for a command. */
export function explainCommand(command: Command): string {
  const lines = Object.entries(command.options).map(([name, option]): [string, string] => [
    shown(name, option),
    [option.about, wordsOf(option), option.isRequired && 'Required.'].filter(Boolean).join(' '),
  ]);
  const service = Object.entries(targetOptions).map(([name, option]): [string, string] => [
    shown(name, option),
    option.about!,
  ]);
  const parts = [
    `Usage: ${program} ${usageOf(command)}`,
    [command.summary, ...(command.about === undefined ? [] : [command.about])].join('\n'),
    ...(lines.length > 0 ? [`Options:\n${columns(lines)}`] : []),
    ...(command.at === 'api' ? [`Where:\n${columns(service)}`] : []),
    `${everywhere}\n`,
  ];
  return parts.join('\n\n');
}

/** Lists all commands, one line for each first word. */
export function formatCommandOverview(commands: readonly Command[]): string {
  const lines = (chosen: readonly Command[]): string =>
    columns(
      [...Map.groupBy(chosen, ({ name }) => name.split(' ', 1)[0]!)].map(
        ([first, group]): [string, string] => [
          first,
          group.map(({ name }) => name.slice(first.length + 1)).join(', '),
        ],
      ),
    );
  const ofApi = commands.filter(({ at }) => at === 'api');
  const ofOperator = commands.filter(({ at }) => at !== 'api');
  return [
    `Usage: ${program} <command> [arguments] [options]`,
    `On the database of this machine:\n${lines(ofOperator)}`,
    `On this database, or on another server with --url and an API key for it in FORMLOOM_API_KEY:\n${lines(ofApi)}`,
    `\`${program} forms --help\` lists the commands for forms; \`${program} forms create --help\` explains one of them.`,
    'Exit codes: 0 success; 1 refused or failed; 2 invalid usage; 3 no response now, but the same command may work later.\n',
  ].join('\n\n');
}

function columns(lines: readonly [string, string][]): string {
  const width = Math.min(34, Math.max(...lines.map(([first]) => first.length)));
  return lines.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd()).join('\n');
}

/**
 * Returns the commands that the typed words may mean: those with the same first word, otherwise those with a
 * similar spelling.
 */
export function suggestCommands(commands: readonly Command[], words: readonly string[]): readonly Command[] {
  const group = commands.filter(({ name }) => name.split(' ', 1)[0] === words[0]);
  if (words.length === 1 && group.length > 0) return group;
  const among = group.length > 0 ? group : commands;
  const names = findNearestNames(
    words.join(' '),
    among.map(({ name }) => name),
  );
  return names.length > 0 ? among.filter(({ name }) => names.includes(name)) : group;
}
