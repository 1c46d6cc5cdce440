import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { copyCluster } from './cluster.ts';
import { endWithSignals } from './end-run.ts';
import { keepFilesInMemory } from './memory.ts';

/*
 * A small version of a test run: its folder, a database, and a process that ignores signals and has a child.
 */
endWithSignals(keepFilesInMemory());
const dataDir = mkdtempSync(join(tmpdir(), 'formloom-ended-'));
await chmod(dataDir, 0o755);
await copyCluster(dataDir);
const { directory } = await startEmbeddedPostgres({ dataDir, log: () => {}, durable: false });
const stay = 'setInterval(() => {}, 1_000)';
const spawnOther = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stay)}], { detached: true, stdio: 'ignore' })`;
const child = spawn(
  process.execPath,
  ['-e', `process.on('SIGTERM', () => {}); console.log(process.pid, ${spawnOther}.pid); ${stay}`],
  { detached: true },
);
child.stdout.setEncoding('utf8').once('data', (pids: string) => {
  process.stdout.write(JSON.stringify({ directory, pids: pids.trim().split(' ').map(Number) }));
});
