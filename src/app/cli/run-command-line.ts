import { setTimeout as sleep } from 'node:timers/promises';
import { findUnavailableCells, isCellUnavailable } from '#cells/across-cells.ts';
import { untilAborted } from '#kit/concurrency.ts';
import { readConfig } from '#kit/config.ts';
import { type Database, isDiskFull, isUnavailableError } from '#kit/database.ts';
import { ApiError, type ErrorCode, type ErrorItem } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { trustCaFile } from '#kit/outbound/address-guard.ts';
import { explainError } from '../database/explain.ts';
import {
  type ApiCommandContext,
  type Command,
  type CommandContext,
  type CommandInput,
  DeclinedError,
  type MachineCommandContext,
  PartialFailureError,
} from './command.ts';
import { allCommands, nonOperationCommands } from './commands.ts';
import {
  explainCommand,
  formatCommandOverview,
  formatCommandResult,
  helpFor,
  suggestCommands,
} from './print.ts';
import { type CommandTarget, readCommandTarget, readInput, targetOptions } from './read-input.ts';
import { openRemoteApi, Unreached } from './remote-api.ts';
import { UsageError } from './values.ts';

/** What a command runs with: its environment, its output streams and the person at the terminal. */
type CommandEnvironment = {
  environment: NodeJS.ProcessEnv;
  /** Writes output: whole lines, or chunks of a file. */
  print: (text: string | Uint8Array) => Promise<void> | void;
  /** Writes errors, in whole lines. */
  complain: (text: string) => void;
  /** Asks a person to confirm; undefined without a terminal. */
  ask?: ((question: string) => Promise<boolean>) | undefined;
  width?: number | undefined;
  /** Aborted to end the command early. The reason is the error. */
  signal?: AbortSignal | undefined;
  /** Aborted when standard output is no longer read. */
  reader?: AbortSignal | undefined;
};

/**
 * Runs one command (docs/rules.md 18). The result goes to standard output, errors to standard error. Never
 * throws.
 * @returns the exit code: 0 success; 1 refused or failed; 2 invalid usage; 3 no response at the moment, the
 * same command may work later.
 */
export async function runCommandLine(args: readonly string[], around: CommandEnvironment): Promise<number> {
  const surroundings: CommandEnvironment = {
    ...around,
    complain: (text) => around.complain(`formloom: ${withoutKeys(text.trimEnd())}\n`),
  };
  const { signal } = surroundings;
  // No option has the value `--json`: the parser refuses values that begin with a dash.
  const isJson = args.includes('--json');
  const fail = (error: unknown): number => {
    const problem = problemOf(error);
    const { help, exitCode, ...body } = problem;
    if (isJson) around.complain(`${withoutKeys(JSON.stringify(body))}\n`);
    else surroundings.complain([sentenceOf(problem), ...(help === undefined ? [] : [help])].join('\n\n'));
    return exitCode;
  };
  // Many people try `help` first, so it works too.
  const work = runWords(args[0] === 'help' ? [...args.slice(1), '--help'] : args, surroundings);
  try {
    return await untilAborted(work, signal);
  } catch (error) {
    const isDone = signal?.aborted === true && (await endInOrder(work));
    return isDone && error instanceof DeclinedError ? 1 : fail(error);
  }
}

/**
 * How long a command may take to end after a signal, and then again after its database is closed, in
 * milliseconds.
 */
const endMs = 2_000;

/**
 * Waits for a command that was interrupted by a signal: short work completes or rolls back. Then closes the
 * database, which ends the rest. This also stops an embedded server that no other process uses, because it
 * would outlive this process.
 * @returns whether the command completed.
 */
async function endInOrder(work: Promise<unknown>): Promise<boolean> {
  let isDone = false;
  const ended = work.then(
    () => (isDone = true),
    () => {},
  );
  const { releaseEmbeddedPostgres } = await import('#kit/embedded-postgres/embedded-postgres.ts');
  await Promise.race([ended, sleep(endMs)]);
  await releaseEmbeddedPostgres();
  await Promise.race([ended, sleep(endMs)]);
  return isDone;
}

/** Hides API keys, because messages about a misplaced key end up in logs. */
const withoutKeys = (text: string): string => text.replaceAll(/\bfl_[\w-]{8,}/g, 'fl_…');

async function runWords(args: readonly string[], around: CommandEnvironment): Promise<number> {
  const { before, words, after } = splitWords(args);
  const command = await findCommand(words);
  if (!command) return explainUnknown(words, args, around);
  const rest = [...words.slice(command.name.split(' ').length), ...after];
  try {
    const { json, input, place } = readInput(command, before, rest);
    if (!input) return await printHelp(explainCommand(command), json, around);
    await runCommand(command, { json, input, place: targetOf(command, place, around.environment) }, around);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) error.help ??= helpFor([command]);
    throw error;
  }
}

/**
 * Splits the arguments. The command is the first two words or only the first one; options may come before it.
 */
function splitWords(args: readonly string[]): { before: string[]; words: string[]; after: string[] } {
  const isOption = (arg: string | undefined): boolean => arg?.startsWith('-') ?? true;
  let start = 0;
  while (start < args.length && isOption(args[start]))
    start += Object.hasOwn(targetOptions, args[start]!.slice(2)) ? 2 : 1;
  const count = isOption(args[start]) ? 0 : isOption(args[start + 1]) ? 1 : 2;
  const end = start + count;
  return { before: args.slice(0, start), words: args.slice(start, end), after: args.slice(end) };
}

async function findCommand(words: readonly string[]): Promise<Command | undefined> {
  const [first, both] = [words[0], words.join(' ')];
  const own = nonOperationCommands.find(({ name }) => name === both || name === first);
  return own ?? (words.length === 2 ? (await allCommands()).find(({ name }) => name === both) : undefined);
}

async function explainUnknown(
  words: readonly string[],
  args: readonly string[],
  around: CommandEnvironment,
): Promise<number> {
  const commands = await allCommands();
  const meant = words.length === 0 ? [] : suggestCommands(commands, words);
  const help = meant.length === 0 ? formatCommandOverview(commands) : helpFor(meant);
  if (args.includes('--help') || args.includes('-h')) return printHelp(help, args.includes('--json'), around);
  const problem = words.length > 0 ? `Unknown command "${words.join(' ')}".` : 'No command was given.';
  const [nearest] = words.length === 2 && meant.length < 4 ? meant : [];
  throw new UsageError(`${problem}${nearest ? ` Did you mean "${nearest.name}"?` : ''}`, { help });
}

/**
 * Returns where a command runs.
 * @throws UsageError if another server is named but the command only works on this machine.
 */
function targetOf({ at, name }: Command, given: CommandInput, environment: NodeJS.ProcessEnv): CommandTarget {
  if (at === 'api') return readCommandTarget(given, environment);
  if ((at === 'database' || at === 'machine') && environment['FORMLOOM_URL'])
    throw new UsageError(`${name} works on the database of this machine. Unset FORMLOOM_URL.`);
  return { remote: undefined, workspace: undefined };
}

const noteOf = ({ note }: Command, input: CommandInput): string | undefined =>
  typeof note === 'function' ? note(input) : note;

type Work = { json: boolean; input: CommandInput; place: CommandTarget };

async function runCommand(command: Command, work: Work, around: CommandEnvironment): Promise<void> {
  const { json, input, place } = work;
  const show = async (answer: object | undefined): Promise<void> => {
    if (answer === undefined) return;
    const text = JSON.stringify(answer);
    const forPerson = (): string =>
      command.show?.(answer) ??
      formatCommandResult(JSON.parse(text) as object, { note: noteOf(command, input), width: around.width });
    await around.print(`${json ? text : forPerson()}\n`);
  };
  if (command.at === 'table') return show(await command.run(await allCommands(), input));
  const terminal = atTerminal(around, json);
  const context = { json, ...terminal };
  if (place.remote && command.at === 'api') {
    const ask = openRemoteApi(place.remote);
    const api: typeof ask = (request) => untilAborted(ask(request), around.signal);
    return showPart(show, () => command.run({ ...context, api }, input));
  }
  if (command.at === 'machine')
    return showPart(show, () => command.run({ ...readSettings(around.environment), ...terminal }, input));
  await withDatabase(command, around.environment, async (opened) => {
    // Printed before the database closes, because a failure there must not lose a secret that is only shown
    // once.
    if (command.at === 'database')
      return showPart(show, () => command.run({ ...opened, ...terminal }, input));
    const { openLocalApi } = await import('./local-api.ts');
    const { api, close } = await openLocalApi(opened, place.remote ? undefined : place.workspace);
    try {
      await showPart(show, () => command.run({ ...context, api }, input));
    } finally {
      await close();
    }
  });
}

/** Prints the result, even if the command did only part of its work. */
async function showPart(
  show: (answer: object | undefined) => Promise<void>,
  run: () => Promise<object | undefined>,
): Promise<void> {
  try {
    await show(await run());
  } catch (error) {
    if (error instanceof PartialFailureError) await show(error.answer);
    throw error;
  }
}

const atTerminal = (
  { ask, print, complain, signal, reader }: CommandEnvironment,
  json: boolean,
): Pick<ApiCommandContext, 'confirm' | 'write' | 'signal' | 'reader'> & Pick<CommandContext, 'report'> => ({
  signal,
  reader,
  write: async (chunk) => print(chunk),
  report: json ? () => undefined : complain,
  async confirm(what) {
    if (!ask) throw new UsageError(`${what}? This cannot be undone. Confirm with --yes.`);
    if (!(await ask(`${what}? This cannot be undone.`))) throw new DeclinedError('Nothing was changed.');
  },
});

/** Reads the settings. Logs only warnings by default: scripts read errors from standard error. */
function readSettings(environment: NodeJS.ProcessEnv): Omit<MachineCommandContext, 'report' | 'signal'> {
  const config = readConfig({ LOG_LEVEL: 'warn', ...environment });
  trustCaFile(config.caFile);
  return { config, log: openLog(config.logLevel) };
}

async function withDatabase(
  { replacesKey = false, makesDatabase = false }: Command,
  environment: NodeJS.ProcessEnv,
  run: (context: Omit<CommandContext, 'confirm' | 'report' | 'signal'>) => Promise<void>,
): Promise<void> {
  const { config, log } = readSettings(environment);
  const { openFormloomDatabase } = await import('../database/open-database.ts');
  const opened = await openFormloomDatabase(config, log, undefined, {
    replacesKey,
    mustExist: !makesDatabase,
  });
  try {
    await run({ ...opened, config, log });
  } catch (error) {
    throw isCellUnavailable(error) ? await describeCellsAway(opened.database, error) : error;
  } finally {
    await opened.close();
  }
}

/** Adds the names of unavailable cells to an error that they may have caused. */
async function describeCellsAway(database: Database, error: unknown): Promise<unknown> {
  const away = await findUnavailableCells(database);
  if (away.length === 0) return error;
  const hints = away.map(
    ({ name, place }) =>
      `The cell ${name} at ${place!.node} does not respond. This command needs all cells. Try again when the cell is available.`,
  );
  return new ApiError('service_unavailable', [sentenceOf(problemOf(error)), ...hints].join('\n'), {
    cause: error,
  });
}

/** The error that `--json` prints on standard error, with the exit code and the help text. */
type Problem = {
  error: ErrorCode | 'usage' | 'declined' | 'failed' | PartialFailureError['code'];
  message: string;
  errors?: readonly ErrorItem[];
  retry_after?: number;
  help?: string | undefined;
  exitCode: 1 | 2 | 3;
};

/**
 * Converts an error to a problem. Exit codes: 1 refused or failed; 2 invalid usage, or forms differ; 3 the
 * same command may work later.
 */
function problemOf(error: unknown): Problem {
  if (error instanceof UsageError)
    return { error: 'usage', message: error.message, help: error.help, exitCode: 2 };
  if (error instanceof PartialFailureError)
    return { error: error.code, message: error.message, exitCode: error.code === 'differs' ? 2 : 1 };
  if (error instanceof DeclinedError) return { error: 'declined', message: error.message, exitCode: 1 };
  if (error instanceof ApiError) {
    const isPassing = error.code === 'rate_limit_exceeded' || error.code === 'service_unavailable';
    return { ...error.body, message: explainError(error), exitCode: isPassing ? 3 : 1 };
  }
  if (error instanceof Unreached)
    return { error: 'service_unavailable', message: error.message, exitCode: 3 };
  if (isUnavailableError(error) && !isDiskFull(error))
    return { error: 'service_unavailable', message: explainError(error), exitCode: 3 };
  return { error: 'failed', message: explainError(error), exitCode: 1 };
}

/** Formats a problem for a person, with one line for each item. */
const sentenceOf = ({ message, errors = [] }: Problem): string =>
  [message, ...errors.map((item) => `  ${item.field ? `${item.field}: ` : ''}${item.message}`)].join('\n');

async function printHelp(help: string, json: boolean, around: CommandEnvironment): Promise<number> {
  await around.print(`${json ? JSON.stringify({ help }) : help.trimEnd()}\n`);
  return 0;
}
