import { readConfig } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { explain } from '../explain.ts';
import { openFormloomDatabase } from '../open-database.ts';
import { type Command, PartlyDone } from './command.ts';
import { commands } from './commands.ts';
import { describe } from './print.ts';
import { readInput } from './read-input.ts';
import { helpFor, nearestCommands } from './usage.ts';
import { UsageError } from './values.ts';

/** Where a command runs: its environment, and the two streams that it writes to. */
export type Surroundings = {
  environment: NodeJS.ProcessEnv;
  /** Hears the answer, whole lines. */
  print: (text: string) => void;
  /** Hears what went wrong, whole lines. */
  complain: (text: string) => void;
};

/**
 * The operator's command line (docs/rules.md 18): one command, its answer on standard output, errors on standard
 * error. Never throws.
 * @returns the exit code: 0 done, 1 it could not be done, 2 it was not understood.
 */
export async function runCommandLine(args: readonly string[], around: Surroundings): Promise<number> {
  const out: Output = {
    print: (text) => around.print(`${text}\n`),
    complain: (text) => around.complain(`formloom: ${text.trimEnd()}\n`),
  };
  try {
    return await runWords(args, around.environment, out);
  } catch (error) {
    out.complain(explainToCaller(error));
    return 1;
  }
}

type Output = Pick<Surroundings, 'print' | 'complain'>;

async function runWords(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  out: Output,
): Promise<number> {
  const { command, rest, words } = findCommand(args);
  if (!command) return explainUnknown(words, rest, out);
  try {
    const { json, input } = readInput(command, rest);
    if (!input) return printHelp([command], json, out);
    await runCommand(command, input, environment, (result) =>
      out.print(json ? JSON.stringify(result) : describe(result, command.note)),
    );
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    out.complain(`${error.message}\n\n${helpFor([command])}`);
    return 2;
  }
}

/** A command is its first two words; `--json` and `--help` may stand before them. */
function findCommand(args: readonly string[]): {
  command: Command | undefined;
  words: string[];
  rest: string[];
} {
  const isWord = (arg: string): boolean => !arg.startsWith('-');
  const start = args.findIndex(isWord);
  const words = start === -1 ? [] : args.slice(start, start + 2).filter(isWord);
  const command = commands.find(({ name }) => name === words.join(' '));
  return { command, words, rest: args.toSpliced(start, words.length) };
}

function explainUnknown(words: readonly string[], rest: readonly string[], out: Output): number {
  const nearest = nearestCommands(commands, words);
  if (rest.includes('--help') || rest.includes('-h')) return printHelp(nearest, rest.includes('--json'), out);
  const problem = words.length > 0 ? `There is no command "${words.join(' ')}".` : 'A command is missing.';
  out.complain(`${problem}\n\n${helpFor(nearest)}`);
  return 2;
}

async function runCommand(
  command: Command,
  input: Record<string, unknown>,
  environment: NodeJS.ProcessEnv,
  show: (answer: object) => void,
): Promise<void> {
  // Quiet unless asked: a script reads standard error for what went wrong.
  const config = readConfig({ LOG_LEVEL: 'warn', ...environment });
  const log = openLog(config.logLevel);
  const { replacesKey = false, makesDatabase = false } = command;
  const opened = await openFormloomDatabase(config, log, undefined, {
    replacesKey,
    mustExist: !makesDatabase,
  });
  try {
    const answer = await command.run({ ...opened, config, log }, input);
    // Before the database is closed: what is shown only once must not be lost to a failure there.
    show(answer);
  } catch (error) {
    if (error instanceof PartlyDone) show(error.answer);
    throw error;
  } finally {
    await opened.close();
  }
}

/** What went wrong: what the caller did with every item of it, all else as a start explains it. */
function explainToCaller(error: unknown): string {
  if (error instanceof PartlyDone) return error.message;
  if (error instanceof ApiError) {
    const items = (error.errors ?? []).map(
      ({ field, message }) => `\n  ${field ? `${field}: ` : ''}${message}`,
    );
    return `${error.message}${items.join('')}`;
  }
  return explain(error);
}

function printHelp(explained: readonly Command[], json: boolean, out: Output): number {
  out.print(json ? JSON.stringify({ help: helpFor(explained) }) : helpFor(explained).trimEnd());
  return 0;
}
