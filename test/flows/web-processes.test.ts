import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { isSlice } from '#test/cases.ts';
import { type PublishedForm, publishForm, sendVisitors, submitEntry, type Visitors } from '#test/crowd.ts';
import { makeInstance, type ServerProcess } from '#test/process.ts';
import { openReceiver, type ReceivedRequest } from '#test/receiver.ts';
import { until } from '#test/service.ts';

/* One instance with several web processes: WEB_PROCESSES. */

type Serving = { process: number; pid: number };

/** Returns the web processes that ever served, in the order in which they started. */
const served = (server: ServerProcess): Serving[] =>
  server
    .output()
    .split('\n')
    .filter((line) => line.includes('"a web process is serving"'))
    .map((line) => JSON.parse(line) as Serving);

/** Returns the processes that have answered requests at this path. */
const answeredBy = (server: ServerProcess, path: string): number[] => {
  const lines = server.output().split('\n');
  const numbers = lines
    .filter((line) => line.includes('"answered"') && line.includes(path))
    .map((line) => (JSON.parse(line) as Serving).process);
  return [...new Set(numbers)].sort();
};

/** Waits for the log to name both processes: its lines are written up to 0.1 s late. */
const untilBoth = (look: () => readonly unknown[]): Promise<unknown> =>
  until('the lines of both processes', async () => look().length >= 2);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const deliveryOf = ({ headers }: ReceivedRequest): string => headers['x-service-delivery-id'] as string;

/** Sends a request on a new connection, so that the processes take turns. */
const ask = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { headers: { ...headers, Connection: 'close' } });

async function findAll(form: PublishedForm, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  const { idsByAnswer } = await form.listAll();
  for (const [entry, id] of acknowledged) assert.deepEqual(idsByAnswer.get(entry), [id]);
}

/**
 * The tests share this instance and run in order: three processes start, a second each. Later tests look for
 * the submissions of every crowd.
 */
const instance = await makeInstance({ WEB_PROCESSES: '2', LOG_LEVEL: 'info', WEBHOOK_TIMEOUT: '30' });
let server = await instance.start();
await untilBoth(() => served(server));
/** Each of these tests starts three processes under load. They run in `npm run test:long -- processes`. */
const left = { skip: isSlice };
const crowds: { form: PublishedForm; acknowledged: ReadonlyMap<string, string> }[] = [];

test('WEB_PROCESSES=2: both answer, log lines name the process, and 200 deliveries are each made once', async () => {
  assert.deepEqual(
    served(server)
      .map((each) => each.process)
      .sort(),
    [1, 2],
  );
  assert.match(server.output(), new RegExp(`Processes +2 +\\(restart .*kill -USR2 ${server.pid}\\)`));
  const receiver = await openReceiver();
  const form = await publishForm(instance, receiver.url);
  await Promise.all(
    Array.from({ length: 10 }, async (_, visitor) => {
      for (let entry = 0; entry < 20; entry += 1)
        assert.ok('id' in (await submitEntry(form.publicUrl, `entry ${visitor}/${entry}`)));
    }),
  );
  await receiver.waitFor(200);
  await untilBoth(() => answeredBy(server, form.id));
  assert.deepEqual(answeredBy(server, form.id), [1, 2]);
  assert.equal(new Set(receiver.requests.map(deliveryOf)).size, 200);
  assert.equal(receiver.requests.length, 200);
});

test('the rate limit applies across all processes: of 100 parallel requests exactly 60 and the burst of 10 pass', async () => {
  const { id } = await instance.cli<{ id: string }>('workspace create', 'Free', '--plan', 'free');
  const { key } = await instance.cli<{ key: string }>('key create', '--workspace', id, '--name', 'Test');
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      ask(`${instance.url}/api/v1/forms`, { Authorization: `Bearer ${key}` }),
    ),
  );
  await untilBoth(() => answeredBy(server, '/api/v1/forms'));
  assert.deepEqual(answeredBy(server, '/api/v1/forms'), [1, 2]);
  assert.equal(answers.filter(({ status }) => status === 200).length, 70);
  assert.equal(answers.filter(({ status }) => status === 429).length, 30);
  const left = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
  assert.deepEqual(
    left.filter((count) => count > 0).sort((a, b) => a - b),
    Array.from({ length: 59 }, (_, index) => index + 1),
  );
});

test('the limit of eight requests in flight for one webhook applies across all processes', left, async () => {
  const [slow, quick] = [await openReceiver(), await openReceiver()];
  const form = await publishForm(instance, slow.url);
  const other = await publishForm(instance, quick.url);
  slow.replyWith('hang');
  for (let index = 0; index < 20; index += 1) await submitEntry(form.publicUrl, `entry ${index}`);
  await slow.waitFor(8);
  // A process with room for more of the first webhook would have sent those before these, which came later.
  for (let index = 0; index < 20; index += 1) await submitEntry(other.publicUrl, `entry ${index}`);
  await quick.waitFor(20);
  assert.equal(slow.requests.length, 8);
  // Hanging requests would reach into the tests below, which replace and end the processes that wait for
  // them.
  await slow.close();
});

test('kill -9 of the database: the primary restarts it, and both processes reconnect', left, async () => {
  const form = await publishForm(instance);
  await instance.killDatabase();
  await until('submissions to be accepted again', async () => {
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map((entry) => submitEntry(form.publicUrl, `entry ${entry}`)),
    );
    return outcomes.every((outcome) => 'id' in outcome);
  });
});

/** Sends visitors to a new form and returns once their first submissions are stored. */
async function sendCrowd(count: number): Promise<Visitors> {
  const form = await publishForm(instance);
  const visitors = sendVisitors(form.publicUrl, { count, name: 'load', pauseMs: 20 });
  crowds.push({ form, acknowledged: visitors.acknowledged });
  await until('some submissions', async () => visitors.acknowledged.size > 50);
  return visitors;
}

test('kill -9 of one process under load: the other keeps answering, it is replaced, and no acknowledged submission is lost', async () => {
  const database = await instance.databasePid();
  const visitors = await sendCrowd(4);

  process.kill(served(server)[0]!.pid, 'SIGKILL');
  await until('its replacement', async () => served(server).length === 3);
  const then = visitors.acknowledged.size;
  await until('more submissions', async () => visitors.acknowledged.size > then + 50);
  assert.equal(served(server)[2]!.process, served(server)[0]!.process, 'it has the same number');
  assert.match(server.output(), /a process ended unexpectedly; replacing it/);
  assert.equal(await instance.databasePid(), database, 'the database is not its business');
  await visitors.leave();
  // At most one request of each visitor was on the connections that died.
  assert.ok(visitors.failures.length <= 4, visitors.failures.join());
});

test(
  'SIGUSR2 under load: every process is replaced one by one, no request fails, and readyz stays ready',
  left,
  async () => {
    const known = served(server);
    const before = known.filter(({ pid }) => isAlive(pid));
    assert.equal(before.length, 2);
    const visitors = await sendCrowd(6);

    process.kill(server.pid, 'SIGUSR2');
    const statuses = new Set<number>();
    // Two processes start one after the other beside a crowd, which takes three seconds on a quiet machine.
    await until(
      'the end of the restart',
      async () => {
        statuses.add((await ask(`${instance.url}/readyz`)).status);
        return server.output().includes('Restarted.');
      },
      90,
    );
    assert.deepEqual([...statuses], [200]);
    await untilBoth(() => served(server).slice(known.length));
    assert.deepEqual(
      served(server)
        .slice(known.length)
        .map((each) => each.process),
      [1, 2],
    );
    assert.deepEqual(
      before.map(({ pid }) => isAlive(pid)),
      [false, false],
    );
    await visitors.leave();
    assert.deepEqual(visitors.failures, []);
  },
);

test(
  'kill -9 of the primary: its processes end by themselves, and no acknowledged submission is missing after the next start',
  left,
  async () => {
    const pids = served(server).map(({ pid }) => pid);
    process.kill(server.pid, 'SIGKILL');
    await until('its processes to end', async () => !pids.some(isAlive));
    server = await instance.start();
    await untilBoth(() => served(server));
    for (const crowd of crowds) await findAll(crowd.form, crowd.acknowledged);
  },
);

test('SIGTERM under load to the primary or all processes: every request is answered, readyz says 503, exit 0 within 10 s, no process left', {
  skip: isSlice,
}, async () => {
  const serving = served(server).filter(({ pid }) => isAlive(pid));
  assert.equal(serving.length, 2);
  const visitors = await sendCrowd(6);

  // A service manager and Ctrl-C in a terminal signal every process.
  for (const { pid } of serving) process.kill(pid, 'SIGTERM');
  const ending = server.terminate();
  await until(
    'readyz to say that it stops',
    async () => (await ask(`${instance.url}/readyz`)).status === 503,
  );
  const { code, ms } = await ending;
  await visitors.gone;
  assert.equal(code, 0, server.output());
  // 10 s on a quiet machine. A busy one takes longer to stop a database.
  assert.ok(ms < 30_000, `${ms} ms`);
  assert.deepEqual(visitors.failures, []);
  assert.deepEqual(
    serving.map(({ pid }) => isAlive(pid)),
    [false, false],
  );
  assert.equal(await instance.databasePid(), undefined, 'the database is stopped');

  // One process is enough for this check.
  await instance.start({ WEB_PROCESSES: '1' });
  const { form, acknowledged } = crowds.at(-1)!;
  await findAll(form, acknowledged);
});

test('a port in use: one error message that names it, exit 1, and no process left', left, async () => {
  const unlucky = await makeInstance({ WEB_PROCESSES: '2' });
  const port = Number(new URL(unlucky.url).port);
  const other = createServer().listen(port, '127.0.0.1');
  const { code, output } = await unlucky.failToStart();
  other.close();
  assert.equal(code, 1);
  assert.deepEqual(output.match(/This port is in use/g), ['This port is in use']);
  assert.doesNotMatch(output, /\n\s+at |a web process is serving/);
  assert.equal(await unlucky.databasePid(), undefined);
});
