import { createInterface } from 'node:readline/promises';
import { runCommandLine } from './cli/run-command-line.ts';

/** Whoever reads may have had enough (`| head`): the command does its work to the end all the same. */
const print = (text: string | Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) =>
      error && (error as NodeJS.ErrnoException).code !== 'EPIPE' ? reject(error) : resolve(),
    );
  });
process.stdout.on('error', () => {
  // `print` hears of it too.
});

async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/* `npm run formloom -- <command>`: the command line of this process. */
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  print,
  complain: (text) => void process.stderr.write(text),
  ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
  width: process.stdout.columns,
});
