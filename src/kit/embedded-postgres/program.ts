import { spawn } from 'node:child_process';
import {
  EmbeddedPostgresError,
  hasErrorCode,
  otherDatabaseHint,
  type SystemAccount,
  suggestRemedy,
  suggestRemedyForError,
} from './machine.ts';

/**
 * Returns the environment of PostgreSQL programs, which inherits only PATH. PGDATA, PGOPTIONS, LANG and
 * LD_LIBRARY_PATH could change or break the server.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** Returns the spawn options to run a program as `account`. Node also drops root's supplementary groups. */
export function getSpawnOptions(account: SystemAccount | undefined): {
  uid?: number;
  gid?: number;
  cwd: string;
} {
  // Programs fail in a working directory that their user may not enter, so they run in "/".
  return account ? { uid: account.uid, gid: account.gid, cwd: '/' } : { cwd: '/' };
}

/** Creates a readable error for a program that could not be started. */
export function spawnError(program: string, error: Error): EmbeddedPostgresError {
  // For a missing dynamic loader, the kernel reports that the program itself is missing.
  const known = hasErrorCode(error, 'EACCES', 'EPERM') ? undefined : suggestRemedyForError(error);
  const remedy = hasErrorCode(error, 'ENOENT')
    ? `Either it is missing (run \`npm ci\`), or this system has no glibc (Alpine and other musl systems): use a system with glibc, ${otherDatabaseHint}.`
    : (known ??
      `Make it executable (chmod +x; the file system must not be mounted noexec), ${otherDatabaseHint}.`);
  return new EmbeddedPostgresError(`The program ${program} cannot be started (${error.message}). ${remedy}`, {
    cause: error,
  });
}

/**
 * Runs a PostgreSQL program with `input` and waits for its end. If it fails, throws {@link
 * EmbeddedPostgresError} with its output. `purpose` completes "… failed to".
 */
export function runProgram(
  program: string,
  args: string[],
  how: { account: SystemAccount | undefined; purpose: string; input?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...getSpawnOptions(how.account), env: programEnvironment() });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    // A program that ends before it reads its input breaks the pipe. Its exit code says why.
    child.stdin.on('error', (error) => {
      if (how.input !== undefined) collect(Buffer.from(`\n${error.message}\n`));
    });
    child.once('error', (error) => reject(spawnError(program, error)));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const end = signal ? `was ended by ${signal}` : `ended with code ${code}`;
      const lines = lastLines(output);
      reject(
        new EmbeddedPostgresError(
          `${program} failed to ${how.purpose}: it ${end} and printed:\n${lines}\n${suggestRemedy(`${output}\n${end}`)}`,
        ),
      );
    });
    child.stdin.end(how.input ?? '');
  });
}

/** Returns the last twelve non-empty lines: the error with some context. */
export function lastLines(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-12).join('\n') || '(nothing)';
}
