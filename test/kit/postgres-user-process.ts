/**
 * A process that uses a data directory, for tests to talk to and kill: `node postgres-user-process.ts
 * <dataDir> [<uid> <gid>]`. Prints one line of JSON when it has started or failed. Stops when its input ends.
 */
import { text } from 'node:stream/consumers';
import { startEmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';

const [dataDir = '', uid, gid] = process.argv.slice(2);
if (uid !== undefined && gid !== undefined) {
  // Runs after the imports, so that the modules may be in a folder that this user cannot read.
  process.setgroups?.([]);
  process.setgid?.(Number(gid));
  process.setuid?.(Number(uid));
}

function say(report: object): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

try {
  const postgres = await startEmbeddedPostgres({
    dataDir,
    durable: false,
    log: (line) => console.error(line),
  });
  say({ how: postgres.how, directory: postgres.directory, connection: postgres.connection });
  await text(process.stdin);
  await postgres.stop();
} catch (error) {
  say({ error: (error as Error).name, message: (error as Error).message });
}
