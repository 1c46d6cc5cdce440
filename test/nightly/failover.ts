import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type PublishedForm, publishForm, submitEntry } from '#test/crowd.ts';
import { type DatabaseNode, missingForPatroni, openReplicatedDatabase } from '#test/patroni.ts';
import { makeInstance } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { until } from '#test/service.ts';
import { slowness } from '#test/slowness.ts';

/*
 * npm run test:long -- failover
 *
 * A database on two machines, managed by Patroni as in deploy/failover/, loses its primary under load: killed
 * and frozen, with both hosts in DATABASE_URL and through HAProxy. Linux, about three minutes. Needs Debian's
 * patroni, etcd-server, haproxy and postgresql-15.
 */
const visitors = 8;
/** The service guarantees that no request hangs longer, and that it is back this soon after the promotion. */
const longestMs = 3_000;
const backMs = 5_000;

type Outcome = { text: string; id: string | undefined; said: string; at: number; ms: number };

/** Sends visitors who submit repeatedly during an action, and collects the response to each request. */
async function visitWhile<T>(form: PublishedForm, deed: () => Promise<T>): Promise<[T, Outcome[]]> {
  const outcomes: Outcome[] = [];
  const over = new AbortController();
  const visit = async (visitor: number): Promise<void> => {
    for (let entry = 0; !over.signal.aborted; entry += 1) {
      const text = `${visitor}/${entry}`;
      const at = performance.now();
      const outcome = await submitEntry(form.publicUrl, text);
      const said = 'id' in outcome ? '201' : `${outcome.failure}, Retry-After: ${outcome.retryAfter}`;
      const id = 'id' in outcome ? outcome.id : undefined;
      outcomes.push({ text, id, said, at, ms: performance.now() - at });
      await pause(25);
    }
  };
  const all = Promise.all(Array.from({ length: visitors }, (_, visitor) => visit(visitor)));
  try {
    return [await deed(), outcomes];
  } finally {
    over.abort();
    await all;
  }
}

/** Asserts that a new event wakes a waiting client, so the listening connections are at the new primary. */
async function hearOf(form: PublishedForm): Promise<void> {
  const { id, publicUrl } = form;
  const { next } = (await form.call('GET', `/events?form_id=${id}&after=now`)).body as unknown as {
    next: string;
  };
  const waiting = form.call('GET', `/events?form_id=${id}&after=${next}&wait=30`);
  await pause(500);
  const since = performance.now();
  assert.ok('id' in (await submitEntry(publicUrl, 'heard of')));
  assert.equal((await waiting).body.data.length, 1);
  assert.ok(performance.now() - since < 5_000);
}

const missing = await missingForPatroni();
// If the requirements are missing, an explicit run must not pass.
if (missing !== undefined) test('a lost primary', () => assert.fail(missing));
else {
  const database = await openReplicatedDatabase();
  const receiver = await openReceiver();
  const kill = (primary: DatabaseNode): Promise<void> => primary.kill();
  const freeze = (primary: DatabaseNode): Promise<void> => primary.freeze();
  const rounds = [
    ['both hosts in DATABASE_URL, the primary is killed', database.url, kill],
    ['HAProxy before them, the primary is killed', database.proxiedUrl, kill],
    ['both hosts in DATABASE_URL, the primary stands still and comes back as one', database.url, freeze],
  ] as const;
  await database.settled();
  const instance = await makeInstance({ DATABASE_URL: database.url });
  for (const [name, url, lose] of rounds)
    test(`${name}: nothing acknowledged is lost, no request waits for 3 s, and 5 s after the promotion all requests succeed`, {
      timeout: 300_000,
    }, async (context) => {
      const { primary, standby } = await database.settled();
      const server = await instance.start({ DATABASE_URL: url });
      const form = await publishForm(instance, receiver.url);
      const quiet = await publishForm(instance);
      const [{ lost, promoted }, outcomes] = await visitWhile(form, async () => {
        await pause(2_000);
        const lostAt = performance.now();
        await lose(primary);
        await until('the promotion', () => standby.isPrimary(), 60);
        const promotedAt = performance.now();
        await pause(backMs + 2_000);
        await hearOf(quiet);
        if (lose === freeze) {
          await primary.thaw(8_000);
          await database.settled();
        }
        return { lost: lostAt, promoted: promotedAt };
      });
      const failed = outcomes.filter(({ id }) => id === undefined);
      const slowest = Math.max(...outcomes.map(({ ms }) => ms));
      const lastFailed = Math.max(...failed.map(({ at, ms }) => at + ms));
      const firstBack = Math.min(...outcomes.filter(({ at, id }) => id && at > promoted).map(({ at }) => at));
      const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
      context.diagnostic(
        `${outcomes.length - failed.length} acknowledged, ${failed.length} answered with 503, the slowest in ` +
          `${seconds(slowest)}; promoted ${seconds(promoted - lost)} after the loss, the first submit taken ` +
          `${seconds(firstBack - promoted)} after that, the last refused ${seconds(lastFailed - promoted)}`,
      );
      const { idsByAnswer } = await form.listAll();
      const gone = outcomes.filter(({ id, text }) => id && !idsByAnswer.get(text)?.includes(id));
      assert.deepEqual(gone, [], 'acknowledged, and not there');
      assert.deepEqual([...new Set(failed.map(({ said }) => said))], ['503, Retry-After: 1']);
      assert.ok(slowest < longestMs * slowness(), `the slowest took ${seconds(slowest)}`);
      assert.ok(
        lastFailed < promoted + backMs * slowness(),
        `refused ${seconds(lastFailed - promoted)} after the promotion`,
      );
      await until(
        'everything to be delivered',
        async () => {
          const [waiting] = await standby.query<{ count: number }>(
            `select count(*)::integer as count from deliveries where form_id = '${form.id}' and status <> 'Success'`,
          );
          return waiting!.count === 0;
        },
        60,
      );
      assert.equal((await server.terminate()).code, 0);
      if (lose === kill) primary.start();
    });
}
