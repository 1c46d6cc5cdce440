import assert from 'node:assert/strict';
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { test } from 'node:test';

/** Writes lines of 10 KB, yields to the event loop after each, and sends the number of dropped lines. */
const script = `
  import { countDroppedWrites, ignoreOutputErrors, writeOutput } from '${import.meta.resolve('./log.ts')}';
  ignoreOutputErrors();
  for (let line = 0; line < Number(process.argv[1]); line += 1) {
    writeOutput('stdout', 'x'.repeat(9_999) + '\\n');
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.send(countDroppedWrites().stdout, () => process.exit(0));`;

function write(lines: number, stdout: 'pipe' | number) {
  const stdio: StdioOptions = ['ignore', stdout, 'inherit', 'ipc'];
  const parameters = [
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '-e',
    script,
    String(lines),
  ];
  const child = spawn(process.execPath, parameters, { stdio });
  return { child, dropped: once(child, 'message').then(([count]) => count as number) };
}

test('an active reader gets every line', async () => {
  const { child, dropped } = write(50, 'pipe');
  child.stdout!.resume();
  assert.equal(await dropped, 0);
});

test('a stalled reader blocks nothing: the buffer is bounded, and further lines are dropped', async () => {
  const { child, dropped } = write(400, 'pipe');
  child.stdout!.pause();
  const count = await dropped;
  assert.ok(count > 250 && count < 400, `${count} lines`);
  child.stdout!.resume();
});

test('a reader that disconnects ends nothing: each line is dropped', async () => {
  const { child, dropped } = write(400, 'pipe');
  child.stdout!.destroy();
  assert.ok((await dropped) > 390);
});

test('a full disk ends nothing: each line is dropped', async () => {
  const full = await open('/dev/full', 'w');
  const { dropped } = write(400, full.fd);
  assert.equal(await dropped, 400);
  await full.close();
});
