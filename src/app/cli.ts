import { createInterface } from 'node:readline/promises';
import { DeclinedError } from './cli/command.ts';
import { runCommandLine } from './cli/run-command-line.ts';

const readerGone = new AbortController();

/**
 * Prints to stdout. If the reader has closed the pipe (`| head`), only commands that just print stop. A pipe
 * reports this at the next write.
 */
const print = (text: string | Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      const isGone = (error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE';
      if (isGone) readerGone.abort(error);
      if (error && !isGone) reject(error);
      else resolve();
    });
  });

process.stdout.on('error', () => {
  // `print` handles this error too.
});

async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

// A closed terminal accepts no more output, but the command still shuts down in order.
process.stderr.on('error', () => {});

/** The terminal and npm both send the signal, so a second one is ignored. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const ending = new AbortController();
// An uncaught error shuts the command down in order. Otherwise, a database that it started would outlive it.
process.on('uncaughtException', (error) => ending.abort(error));
for (const signal of signals)
  process.on(signal, () => ending.abort(new DeclinedError(`Interrupted by ${signal}.`, { cause: signal })));

/* Runs `npm run formloom -- <command>`. */
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  print,
  complain: (text) => void process.stderr.write(text),
  signal: ending.signal,
  reader: readerGone.signal,
  ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
  width: process.stdout.columns,
});
for (const event of [...signals, 'uncaughtException']) process.removeAllListeners(event);
if (ending.signal.aborted) {
  const reason: unknown = ending.signal.reason;
  // Ends the process with the signal, as the parent process expects. `process.exit` would wait for a file
  // that cannot be read.
  if (reason instanceof DeclinedError) process.kill(process.pid, reason.cause as (typeof signals)[number]);
  else process.exit(1);
}
// A pending request for events would keep the process running for 30 s.
if (readerGone.signal.aborted) process.exit();
