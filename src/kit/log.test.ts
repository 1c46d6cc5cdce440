import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const start = (rest: string): string[] => [
  '--disable-warning=ExperimentalWarning',
  '--input-type=module',
  '-e',
  `import { openLog } from '${import.meta.resolve('./log.ts')}';
   const log = openLog('info');
   log.info('first');
   ${rest}`,
];
const messages = (text: string): string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { msg: string }).msg);

test('lines that wait are written at exit, also if the process ends at once', () => {
  for (const end of ['', 'process.exit(3);']) {
    const { stderr } = spawnSync(process.execPath, start(`log.info('last'); ${end}`), { encoding: 'utf8' });
    assert.deepEqual(messages(stderr), ['first', 'last'], end);
  }
});

test('a warning is written at once, after the lines before it', () => {
  const { stderr, signal } = spawnSync(
    process.execPath,
    start(`log.warn('second'); process.kill(process.pid, 'SIGKILL');`),
    { encoding: 'utf8' },
  );
  assert.equal(signal, 'SIGKILL');
  assert.deepEqual(messages(stderr), ['first', 'second']);
});
