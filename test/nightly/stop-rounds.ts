import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { makeInstance } from '#test/process.ts';
import { stopUnderLoad, stopWays } from './stop-round.ts';

/*
 * npm run test:long -- stop <rounds>
 *
 * Sends SIGTERM to `npm start` under load, in each of its ways. Default: 50 rounds each. NPM_CLI=<npm-cli.js>
 * uses another npm.
 */
const rounds = Number(process.argv[2] ?? 50);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`"${process.argv[2]}" is no number of rounds.`);

const mayUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;

for (const way of stopWays) {
  const skip = way === 'first process' && !mayUnshare && 'only root may make process 1';
  test(`${rounds} times SIGTERM to ${way} under load`, { skip }, async () => {
    const instance = await makeInstance();
    for (let round = 1; round <= rounds; round += 1) {
      await stopUnderLoad(instance, way);
      process.stdout.write(`round ${round}: ${way}\n`);
    }
  });
}
