import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isSlice } from '#test/cases.ts';
import type { Mood } from '#test/kit/web-process.ts';
import { slowness } from '#test/slowness.ts';
import { openLog } from '../log.ts';
import { openConnectionListener } from './connection-listener.ts';
import { openSupervisor } from './supervisor.ts';
import { startWebProcess, WebProcessError } from './web-process.ts';

const script = fileURLToPath(new URL('../../../test/kit/web-process.ts', import.meta.url));

/** Opens a listener with a supervisor; processes that start later behave as `mood` says at that moment. */
async function openStage({ size = 1, endMs = 5_000, silenceMs = 30_000, log = openLog('silent') } = {}) {
  const feels: { mood: Mood } = { mood: 'well' };
  const pids = new Set<number>();
  const door = openConnectionListener();
  const crew = openSupervisor({
    size,
    launch(number) {
      const answer = async (): Promise<Mood> => feels.mood;
      const started = startWebProcess(number, { script, environment: process.env, answer, silenceMs });
      pids.add(started.pid!);
      return started;
    },
    door,
    log,
    endMs,
  });
  const url = await door.open({ host: '127.0.0.1', port: 0 });
  after(() => crew.stop(0));
  return { crew, url, feels, pids };
}

const ask = async (url: string): Promise<number> =>
  Number(await (await fetch(url, { headers: { Connection: 'close' } })).text());

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function connectTo(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

test('connections are distributed to the processes in rotation', async () => {
  const { crew, url, pids } = await openStage({ size: 2 });
  await crew.start();
  const [first, second, third] = [await ask(url), await ask(url), await ask(url)];
  assert.deepEqual(new Set([first, second]), pids);
  assert.equal(third, first);
});

test('if a process fails to start, the supervisor says why and leaves no process behind', {
  skip: isSlice,
}, async () => {
  const { crew, feels, pids } = await openStage({ size: 2 });
  feels.mood = 'fails';
  await assert.rejects(crew.start(), (error: unknown) => {
    assert.ok(error instanceof WebProcessError);
    assert.equal(error.message, 'It does not feel like it.');
    return true;
  });
  assert.deepEqual([...pids].filter(isAlive), []);
});

test('if the new process of a restart cannot start, the old ones stay; the next restart replaces them', {
  skip: isSlice,
}, async () => {
  const { crew, url, feels } = await openStage();
  await crew.start();
  const old = await ask(url);
  feels.mood = 'fails';
  assert.equal(await crew.restart(), false);
  assert.equal(await ask(url), old);
  feels.mood = 'well';
  assert.equal(await crew.restart(), true);
  assert.notEqual(await ask(url), old);
  assert.ok(!isAlive(old));
});

test('a connection that arrives while no process is serving waits for the replacement', {
  skip: isSlice,
}, async () => {
  const { crew, url } = await openStage();
  await crew.start();
  const old = await ask(url);
  process.kill(old, 'SIGKILL');
  while (isAlive(old)) await new Promise((resolve) => setImmediate(resolve));
  assert.notEqual(await ask(url), old);
});

test('an unresponsive process is killed and replaced, and the log says why; an idle one stays', {
  skip: isSlice,
}, async () => {
  const lines = new PassThrough();
  const { crew, url, feels } = await openStage({ silenceMs: 1_800, log: openLog('error', lines) });
  feels.mood = 'hangs';
  await crew.start();
  const old = await ask(url);
  await sleep(2_500);
  assert.ok(isAlive(old), 'it answered more checks than it may leave unanswered');
  feels.mood = 'well';
  await assert.rejects(ask(url));
  assert.notEqual(await ask(url), old);
  assert.ok(!isAlive(old));
  assert.match(String(lines.read()), /SIGKILL, after no sign of life for 1\.8 s.*ended unexpectedly/);
});

test('a connection that a disconnected process cannot receive is returned after the process ends, not before', async () => {
  const answer = async (): Promise<Mood> => 'leaves';
  const leaving = startWebProcess(1, { script, environment: process.env, answer });
  await leaving.ready;
  const seen = { hasEnded: false, early: 0, back: 0 };
  void leaving.ended.then(() => (seen.hasEnded = true));
  const refused = (): void => void (seen[seen.hasEnded ? 'back' : 'early'] += 1);
  while (!seen.hasEnded) {
    leaving.receive(new Socket(), refused);
    await nextTurn();
  }
  await nextTurn();
  assert.equal(seen.early, 0);
  assert.ok(seen.back > 0);
});

test('a process that does not end in time is killed', async () => {
  const { crew, url, feels } = await openStage({ endMs: 1_500 });
  feels.mood = 'stays';
  await crew.start();
  const pid = await ask(url);
  await crew.stop(0);
  assert.ok(!isAlive(pid));
});

test('an idle connection does not delay the shutdown', { skip: isSlice }, async () => {
  const { crew, url } = await openStage({ endMs: 20_000 });
  await crew.start();
  const socket = await connectTo(url);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  const since = performance.now();
  await crew.stop(0);
  // Otherwise the connection would be cut off after the 5 s that the process allows.
  const ms = performance.now() - since;
  assert.ok(ms < 4_000 || ms < 4_000 * slowness(), `${ms} ms`);
  socket.destroy();
});
