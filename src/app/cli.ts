import { runCommandLine } from './cli/run-command-line.ts';

/* `npm run formloom -- <command>`: the command line of this process. */
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});
