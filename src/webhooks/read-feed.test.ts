import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '#kit/clock.ts';
import { openDatabase, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { announceJobs } from '#kit/queue.ts';
import type { LinkTarget } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { happen, makeForm, makeWebhook, type Place } from '#test/webhooks/make-webhook.ts';
import { snapshotOf } from './event.ts';
import { openFeedNotifier } from './feed-notifier.ts';
import { type FeedPage, type FeedRequest, readFeed } from './read-feed.ts';
import { recordEvent } from './record-event.ts';
import { pruneDeliveryLog } from './upkeep.ts';

const { database, url } = await testDatabase();
const log = openLog('silent');
const links = {
  sign: ({ workspaceId, id }: LinkTarget) => `https://files.test/${workspaceId}/${id}`,
};
const context = { database, links };

type Body = {
  event: string;
  delivery_id: string;
  form: { id: string };
  submission: { responses: { name: string } };
};
const read = async (
  { workspaceId }: Place,
  question: Partial<FeedRequest> = {},
): Promise<FeedPage & { events: Body[] }> => {
  const page = await readFeed(context, {
    workspaceId,
    after: undefined,
    limit: 50,
    formIds: null,
    ...question,
  });
  return { ...page, events: page.bodies.map((body) => JSON.parse(body) as Body) };
};
/** Records an event with a word as its answer, and commits when `mayCommit` resolves. */
const record = (place: Place, word: string, mayCommit: Promise<unknown> = Promise.resolve()) =>
  transaction(database, async (client) => {
    const id = newId();
    const form = { id: place.formId, name: 'Contact', workspaceId: place.workspaceId };
    const submission = {
      id,
      submittedAt: new Date(),
      status: 'completed',
      reference: {},
      answers: { name: word },
    };
    const snapshot = snapshotOf({ form, submission, fields: {} });
    const event = { submissionId: id, kind: 'submission.created', occurredAt: new Date(), snapshot } as const;
    const count = await recordEvent(client, { ...place, ...event, fields: {} });
    await mayCommit;
    return count;
  });
const wordsOf = ({ events }: { events: Body[] }): string[] =>
  events.map(({ submission }) => submission.responses.name);
const isGone = (error: unknown): boolean => error instanceof ApiError && error.code === 'gone';

test('nothing is recorded without a reader; from its first request on, every event is recorded in order', async () => {
  const place = await makeForm(database);
  assert.equal(await record(place, 'unheard'), 0);
  const first = await read(place);
  assert.deepEqual([first.bodies, first.hasMore], [[], false]);
  assert.equal(await record(place, 'one'), 1);
  assert.equal((await read(place)).bodies.length, 1);
  await record(place, 'two');
  const page = await read(place, { after: first.next });
  assert.deepEqual(wordsOf(page), ['one', 'two']);
  assert.deepEqual((await read(place, { after: page.next })).bodies, []);
  const halves = [await read(place, { limit: 1 })];
  halves.push(await read(place, { limit: 1, after: halves[0]!.next }));
  assert.deepEqual(halves.map(wordsOf), [['one'], ['two']]);
});

test('the body and its `delivery_id` match the named webhook, or the first one by default', async () => {
  const place = await makeForm(database);
  const first = await makeWebhook(database, place, { url: 'https://receiver.test/' });
  const second = await makeWebhook(database, place, {
    url: 'https://receiver.test/',
    events: ['submission.created'],
  });
  assert.equal(await happen(database, place), 2);
  assert.equal(await happen(database, place, { kind: 'submission.deleted' }), 1);
  const { rows } = await database.query(
    'select id, webhook_id from deliveries where workspace_id = $1 order by webhook_id, created_at',
    [place.workspaceId],
  );
  const idsOf = (webhook: string): string[] =>
    rows.filter((row) => row.webhook_id === webhook).map(({ id }) => id as string);
  const pulled = async (webhookId?: string): Promise<string[]> =>
    (await read(place, { webhookId })).events.map(({ delivery_id: id }) => id);
  assert.deepEqual(await pulled(), idsOf(first));
  assert.deepEqual(await pulled(first), idsOf(first));
  assert.deepEqual(await pulled(second), idsOf(second));
  const [body] = (await read(place)).events;
  assert.deepEqual(Object.keys(body!), ['event', 'timestamp', 'delivery_id', 'form', 'submission']);
});

test('an event that commits late is not skipped, although its ID is older', async () => {
  const place = await makeForm(database);
  await read(place);
  const gate = Promise.withResolvers<void>();
  const late = record(place, 'late', gate.promise);
  await sleep(5);
  await record(place, 'early');
  const page = await read(place);
  assert.deepEqual(wordsOf(page), ['early']);
  gate.resolve();
  await late;
  assert.deepEqual(wordsOf(await read(place, { after: page.next })), ['late']);
});

test('with parallel writers that commit at random times, every reader gets every event once', async () => {
  const place = await makeForm(database);
  const { next } = await read(place);
  const [writers, each] = [8, 25];
  const written: string[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let count = 0; count < each; count += 1) {
      const word = `${writer}-${count}`;
      await record(place, word, sleep(Math.random() * 8));
      written.push(word);
    }
  };
  const follow = async (limit: number): Promise<string[]> => {
    const words: string[] = [];
    for (let cursor = next; words.length < writers * each; ) {
      const page = await read(place, { after: cursor, limit });
      words.push(...wordsOf(page));
      cursor = page.next;
      if (page.bodies.length === 0) await sleep(1);
    }
    return words;
  };
  const readers = [follow(1), follow(7), follow(50)];
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const [slow, ...others] = await Promise.all(readers);
  assert.deepEqual(slow!.toSorted(), written.toSorted());
  for (const other of others) assert.deepEqual(other, slow, 'the order is the same for all');
});

test('a filtered read continues past events that do not match', async () => {
  const place = await makeForm(database);
  await read(place);
  for (const kind of ['submission.created', 'submission.updated', 'submission.created'] as const)
    await happen(database, place, { kind });
  const page = await read(place, { kind: 'submission.updated', limit: 1 });
  assert.deepEqual(
    page.events.map(({ event }) => event),
    ['submission.updated'],
  );
  const rest = await read(place, { kind: 'submission.updated', limit: 1, after: page.next });
  assert.deepEqual([rest.bodies, rest.hasMore], [[], false]);
  assert.deepEqual((await read(place, { formIds: [newId()] })).bodies, []);
  assert.equal((await read(place, { formIds: [place.formId] })).bodies.length, 3);
});

test('the feed contains no tests of a webhook and no events of another workspace', async () => {
  const [place, other] = [await makeForm(database), await makeForm(database)];
  await Promise.all([read(place), read(other)]);
  await record(place, 'real');
  await record(place, 'a test');
  await database.query(
    `update events set is_test = true where workspace_id = $1 and snapshot::text like '%a test%'`,
    [place.workspaceId],
  );
  assert.deepEqual(wordsOf(await read(place)), ['real']);
  assert.deepEqual((await read(other)).bodies, []);
});

/** Makes the matching events of a workspace old enough for pruning. */
async function age({ workspaceId }: Place, words: string): Promise<void> {
  await database.query(
    `update events set id = ('00000000' || substr(gen_random_uuid()::text, 9))::uuid
      where workspace_id = $1 and snapshot::text like $2`,
    [workspaceId, `%${words}%`],
  );
}

test('a cursor older than the retention returns 410, and a new reader starts with the remaining events', async () => {
  const place = await makeForm(database);
  const { next } = await read(place);
  await record(place, 'old');
  const old = await read(place);
  await record(place, 'young');
  await age(place, 'old');
  await pruneDeliveryLog({ database }, { retentionDays: 30 });
  await assert.rejects(read(place, { after: next }), isGone);
  assert.deepEqual(wordsOf(await read(place, { after: old.next })), ['young']);
  assert.deepEqual(wordsOf(await read(place)), ['young']);
});

test('a reader gets 410 if retention removed events before they were read', async () => {
  const place = await makeForm(database);
  const { next } = await read(place);
  await record(place, 'unread');
  await age(place, 'unread');
  await pruneDeliveryLog({ database }, { retentionDays: 30 });
  await assert.rejects(read(place, { after: next }), isGone);
  assert.deepEqual((await read(place)).bodies, []);
});

test('a feed that is not read for 30 days records nothing, and its reader then gets 410', async () => {
  const place = await makeForm(database);
  const { next } = await read(place);
  await database.query(`update feeds set read_at = now() - interval '31 days' where workspace_id = $1`, [
    place.workspaceId,
  ]);
  assert.equal(await record(place, 'unheard'), 0);
  await assert.rejects(read(place, { after: next }), isGone);
  assert.equal(await record(place, 'heard'), 1);
  assert.deepEqual(wordsOf(await read(place)), ['heard']);
});

test('a cursor that the feed never issued returns 410', async () => {
  const place = await makeForm(database);
  await read(place);
  await assert.rejects(read(place, { after: 7 }), isGone);
});

test('a waiting reader is woken even if other jobs are announced all the time', async (t) => {
  const place = await makeForm(database);
  const { next } = await read(place);
  const bell = openFeedNotifier({ database, log });
  const chatter = setInterval(() => void announceJobs(database, 'others'), 5);
  t.after(() => clearInterval(chatter));
  const wait = bell.wait(place.workspaceId, next, 10_000);
  await record(place, 'news');
  const began = performance.now();
  assert.equal(await wait, true);
  bell.close();
  assert.ok(performance.now() - began < 5_000);
});

test('a waiting reader is woken by the commit of another process and holds no connection', async () => {
  const place = await makeForm(database);
  const { next } = await read(place);
  const small = openDatabase({ connectionString: url }, { pool: 1, log });
  after(() => small.end());
  const bell = openFeedNotifier({ database: small, log });
  const waits = Array.from({ length: 20 }, () => bell.wait(place.workspaceId, next, 10_000));
  const short = await bell.wait(place.workspaceId, next, 30);
  assert.equal(short, false, 'the time was over');
  await small.query('select 1');
  await record(place, 'news');
  await announceJobs(database, 'another');
  assert.deepEqual(new Set(await Promise.all(waits)), new Set([true]));
  const open = bell.wait(place.workspaceId, next + 9, 10_000);
  bell.close();
  assert.equal(await open, false);
  assert.equal(await bell.wait(place.workspaceId, next, 10_000), false);
});
