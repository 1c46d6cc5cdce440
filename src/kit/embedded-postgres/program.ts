import { spawn } from 'node:child_process';
import {
  type Account,
  EmbeddedPostgresError,
  elsewhere,
  hasCode,
  suggestRemedy,
  suggestRemedyOf,
} from './machine.ts';

/**
 * The whole environment of a PostgreSQL program: nothing is inherited but PATH, because PGDATA, PGOPTIONS, LANG and
 * LD_LIBRARY_PATH of whoever starts Formloom would each change or break the server.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** Spawn options that run a program as `account`. Node drops root's supplementary groups along with the uid. */
export function runAs(account: Account | undefined): { uid?: number; gid?: number; cwd: string } {
  // "/" because a program that may not enter its working directory fails, and we run them as other users.
  return account ? { uid: account.uid, gid: account.gid, cwd: '/' } : { cwd: '/' };
}

/** Why a program could not even be started, as a readable error. */
export function spawnError(program: string, error: Error): EmbeddedPostgresError {
  // The kernel reports a missing dynamic loader as if the program itself were missing.
  const known = hasCode(error, 'EACCES', 'EPERM') ? undefined : suggestRemedyOf(error);
  const remedy = hasCode(error, 'ENOENT')
    ? `Either it is missing (run \`npm ci\`), or this system has no glibc (Alpine and other musl systems): use one that has, ${elsewhere}.`
    : (known ?? `Make it executable (chmod +x; the file system must not be mounted noexec), ${elsewhere}.`);
  return new EmbeddedPostgresError(`The program ${program} cannot be started (${error.message}). ${remedy}`, {
    cause: error,
  });
}

/**
 * Runs one PostgreSQL program to its end, feeding it `input`. Throws {@link EmbeddedPostgresError} with what it
 * printed when it fails; `purpose` completes "… failed to".
 */
export function runProgram(
  program: string,
  args: string[],
  how: { account: Account | undefined; purpose: string; input?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...runAs(how.account), env: programEnvironment() });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    // A program that dies before it has read its input breaks the pipe; how it ended says why. Without input, that
    // pipe says nothing.
    child.stdin.on('error', (error) => {
      if (how.input !== undefined) collect(Buffer.from(`\n${error.message}\n`));
    });
    child.once('error', (error) => reject(spawnError(program, error)));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const end = signal ? `was ended by ${signal}` : `ended with code ${code}`;
      const said = lastLines(output);
      reject(
        new EmbeddedPostgresError(
          `${program} failed to ${how.purpose}: it ${end} and said:\n${said}\n${suggestRemedy(`${output}\n${end}`)}`,
        ),
      );
    });
    child.stdin.end(how.input ?? '');
  });
}

/** The last twelve lines that are not empty: the error, and enough around it to understand. */
export function lastLines(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-12).join('\n') || '(nothing)';
}
