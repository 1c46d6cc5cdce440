import type { Command, Option } from './command.ts';
import { nearest } from '#kit/nearest.ts';
import { serviceOptions } from './service-options.ts';

const program = 'npm run -s formloom --';

const shown = (name: string, { value }: Option<unknown>): string =>
  value ? `--${name} ${value.shows}` : `--${name}`;

/** One line: the command, its parameters and its options. */
function usageOf(command: Command): string {
  const parameters = Object.entries(command.parameters).map(([name, { choices, shows }]) =>
    choices ? `<${shows}>` : `<${name}>`,
  );
  const options = Object.entries(command.options)
    .filter(([name, { isMinor }]) => !isMinor && !isOpposite(command, name))
    .map(([name, option]) => (option.isRequired ? shown(name, option) : `[${shown(name, option)}]`));
  return [command.name, ...parameters, ...options].join(' ');
}

/** `--no-name` beside a `--name`: the list of options says it, the line would be twice as long. */
const isOpposite = ({ options }: Command, name: string): boolean =>
  name.startsWith('no-') && Object.hasOwn(options, name.slice(3));

const entry = (command: Command): string => `  ${usageOf(command)}\n      ${command.summary}`;

const everywhere =
  '--json prints one JSON document, and errors as JSON. --help explains a command. An option that takes <text|@file> reads a file: @name, or @- for standard input; @@ begins a text with @.';

/** The help of one command in short, or of several. */
export const helpFor = (commands: readonly Command[]): string =>
  `Usage: ${program} <command>\n\n${commands.map(entry).join('\n')}\n\n  ${everywhere}\n`;

/** The words that an option takes, where its usage does not show them. */
const wordsOf = ({ value }: Option<unknown>): string | undefined =>
  value?.choices?.some((word) => !value.shows.includes(word))
    ? `Of: ${value.choices.join(', ')}.`
    : undefined;

/** All that there is to say about a command. */
export function explainCommand(command: Command): string {
  const lines = Object.entries(command.options).map(([name, option]): [string, string] => [
    shown(name, option),
    [option.about, wordsOf(option), option.isRequired && 'Required.'].filter(Boolean).join(' '),
  ]);
  const service = Object.entries(serviceOptions).map(([name, option]): [string, string] => [
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

/** What there is, a line for each first word. */
export function overview(commands: readonly Command[]): string {
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
    `There, or at another service with --url and its key in FORMLOOM_API_KEY:\n${lines(ofApi)}`,
    `\`${program} forms --help\` lists the commands of a first word, \`${program} forms create --help\` explains one.`,
    'Exit codes: 0 it is done; 1 it was refused, or failed; 2 it was not understood; 3 there is no answer now, and the same command may work later.\n',
  ].join('\n\n');
}

/** Two columns, the second of which may be empty. */
function columns(lines: readonly [string, string][]): string {
  const width = Math.min(34, Math.max(...lines.map(([first]) => first.length)));
  return lines.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd()).join('\n');
}

/** The commands that the given words may have meant: those of the same first word, else those spelt alike. */
export function meantCommands(commands: readonly Command[], words: readonly string[]): readonly Command[] {
  const group = commands.filter(({ name }) => name.split(' ', 1)[0] === words[0]);
  if (words.length === 1 && group.length > 0) return group;
  const among = group.length > 0 ? group : commands;
  const names = nearest(
    words.join(' '),
    among.map(({ name }) => name),
  );
  return names.length > 0 ? among.filter(({ name }) => names.includes(name)) : group;
}
