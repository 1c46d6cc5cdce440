import type { Command } from './command.ts';

/** One line: the command, its parameters and its options. */
function usageOf(command: Command): string {
  const parameters = Object.entries(command.parameters).map(([name, { shows }]) =>
    shows.includes('|') ? `<${shows}>` : `<${name}>`,
  );
  const options = Object.entries(command.options).map(([name, { value, isRequired }]) => {
    const option = value ? `--${name} ${value.shows}` : `--${name}`;
    return isRequired ? option : `[${option}]`;
  });
  return [command.name, ...parameters, ...options].join(' ');
}

/** The help of one command, or of several. */
export function helpFor(commands: readonly Command[]): string {
  const entries = commands.map((command) => `  ${usageOf(command)}\n      ${command.summary}`);
  return `Usage: npm run -s formloom -- <command>\n\n${entries.join('\n')}\n\n  --json prints one JSON document; --help explains a command.\n`;
}

/** The commands that the given words may have meant: those of the same first word, else all. */
export function nearestCommands(commands: readonly Command[], words: readonly string[]): readonly Command[] {
  const near = commands.filter(({ name }) => name.split(' ', 1)[0] === words[0]);
  return near.length > 0 ? near : commands;
}
