import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { addSubmissions, type PublishedForm, publishForm, sendVisitors } from '#test/crowd.ts';
import { type Instance, makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';

/*
 * npm run test:long -- memory <seconds>
 *
 * Runs a service with its embedded database in a group of processes with at most 512 MB, and with 1 GB. Runs
 * it as one process and as two, under load, started as a container and systemd start it. Default: 60 s each.
 * Linux only, as root.
 */
const seconds = Number(process.argv[2] ?? 60);
if (!Number.isInteger(seconds) || seconds < 1)
  throw new Error(`"${process.argv[2]}" is no number of seconds.`);

const mebibyte = 2 ** 20;

/** A group of processes with a memory limit, by either cgroup version of Linux. */
type Group = {
  /** Processes started meanwhile, and their children, belong to the group. */
  runInside<Result>(start: () => Result): Result;
  /** Returns the bytes that the kernel cannot reclaim. The file cache does not count. */
  held(): Promise<number>;
  /** Returns the number of processes killed for lack of memory. */
  killed(): Promise<number>;
  remove(): Promise<void>;
};

async function openGroup(limit: number): Promise<Group> {
  const name = `formloom-memory-${process.pid}-${limit}`;
  const isSecond = await readFile('/sys/fs/cgroup/cgroup.controllers', 'utf8').then(
    () => true,
    () => false,
  );
  const root = isSecond ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
  const home = `${root}/${name}`;
  await mkdir(home);
  await writeFile(`${home}/${isSecond ? 'memory.max' : 'memory.limit_in_bytes'}`, String(limit));
  const valueOf = async (file: string, field: string): Promise<number> =>
    Number(new RegExp(`^${field} (\\d+)$`, 'm').exec(await readFile(`${home}/${file}`, 'utf8'))?.[1] ?? NaN);
  const own = (await readFile('/proc/self/cgroup', 'utf8')).match(
    isSecond ? /^0::(.*)$/m : /:memory:(.*)$/m,
  )![1];
  return {
    runInside(start) {
      writeFileSync(`${home}/cgroup.procs`, String(process.pid));
      try {
        return start();
      } finally {
        writeFileSync(`${root}${own}/cgroup.procs`, String(process.pid));
      }
    },
    async held() {
      const fields = isSecond ? ['anon', 'shmem'] : ['total_rss', 'total_shmem'];
      const bytes = await Promise.all(fields.map((field) => valueOf('memory.stat', field)));
      return bytes[0]! + bytes[1]!;
    },
    killed: () => valueOf(isSecond ? 'memory.events' : 'memory.oom_control', 'oom_kill'),
    async remove() {
      await until('the group to be empty', () =>
        rmdir(home).then(
          () => true,
          () => false,
        ),
      );
    },
  };
}

/** Uploads, reads long lists, searches and exports workbooks in turn until it is stopped. */
async function useEverything(form: PublishedForm, isOver: () => boolean): Promise<Record<string, number>> {
  const done: Record<string, number> = { upload: 0, list: 0, search: 0, export: 0 };
  const headers = { Authorization: `Bearer ${form.key}` };
  const { origin } = new URL(form.publicUrl);
  const path = `${origin}/api/v1/forms/${form.id}/submissions`;
  const file = new Blob([new Uint8Array(8 * mebibyte).fill(65)], { type: 'text/plain' });
  const take = async (
    kind: string,
    status: number,
    address: string,
    init: RequestInit = {},
  ): Promise<void> => {
    const response = await fetch(address, { headers, ...init });
    await response.arrayBuffer();
    // A workspace may run two exports in parallel. A third gets 429.
    assert.ok(response.status === status || response.status === 429, `${kind}: ${response.status}`);
    done[kind]! += 1;
  };
  const again = async (each: () => Promise<void>): Promise<void> => {
    while (!isOver()) await each();
  };
  await Promise.all([
    again(() => {
      const body = new FormData();
      body.set('entry', 'with a file');
      body.set('file', file, 'long.txt');
      return take('upload', 201, form.publicUrl, {
        method: 'POST',
        body,
        headers: { Accept: 'application/json' },
      });
    }),
    again(() => take('list', 200, `${path}?per_page=100`)),
    again(() => take('search', 200, `${origin}/api/v1/submissions/search?q=load`)),
    again(() => take('export', 200, `${path}/export?format=xlsx`)),
  ]);
  return done;
}

/**
 * Runs an instance under a memory limit and asserts that none of its processes was killed for lack of memory.
 * @param work gets the instance and a function that returns the peak memory since its last call, in bytes.
 */
async function inside(
  limit: number,
  processes: string,
  work: (instance: Instance, most: () => number) => Promise<string>,
): Promise<void> {
  const group = await openGroup(limit * mebibyte);
  // Forces the code cache into the data directory, as in a container and under systemd. No folder can be
  // created at this path.
  const NODE_COMPILE_CACHE = '/dev/null/compiled';
  const instance = await makeInstance({ WEB_PROCESSES: processes, BY_SETUP: 'true', NODE_COMPILE_CACHE });
  const over = new AbortController();
  try {
    const server = await group.runInside(() => instance.start());
    let most = 0;
    const watching = (async () => {
      while (!over.signal.aborted) {
        most = Math.max(most, await group.held());
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    })();
    const said = await work(instance, () => {
      const held = most;
      most = 0;
      return held;
    });
    over.abort();
    await watching;
    assert.equal(await group.killed(), 0);
    assert.equal((await server.terminate()).code, 0, server.output());
    process.stdout.write(`${limit} MB, WEB_PROCESSES=${processes}: ${said}\n`);
  } finally {
    over.abort();
    await instance.close();
    await group.remove();
  }
}

/**
 * More data than the database buffers hold (128 MB at most), because a service that has run for a while has
 * them full.
 */
const manyMore = 120_000;

const inMebibytes = (bytes: number): string => (bytes / mebibyte).toFixed(0);

for (const [limit, processes] of [
  [512, '1'],
  [512, '2'],
  [1024, '1'],
  [1024, '2'],
] as const)
  test(`${limit} MB are enough for ${processes === '1' ? 'one process' : 'two processes'} under load`, () =>
    inside(limit, processes, async (instance, most) => {
      const form = await publishForm(instance);
      await addSubmissions(instance, (await publishForm(instance)).id, manyMore);
      const visitors = sendVisitors(form.publicUrl, { count: 16, name: 'load' });
      const end = performance.now() + seconds * 1_000;
      const done = await useEverything(form, () => performance.now() >= end);
      await visitors.leave();
      assert.deepEqual(visitors.failures, []);
      return `held ${inMebibytes(most())} MB at most; ${visitors.acknowledged.size} submits, ${JSON.stringify(done)}`;
    }));

test('64 MB are not enough, which proves that the limit applies', async () => {
  const group = await openGroup(64 * mebibyte);
  const instance = await makeInstance();
  try {
    await assert.rejects(group.runInside(() => instance.start()));
    assert.ok((await group.killed()) > 0);
  } finally {
    await instance.close();
    await group.remove();
  }
});
