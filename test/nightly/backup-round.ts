import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailableError } from '#kit/database.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { addSubmissions, type PublishedForm, publishForm, submitEntry } from '#test/crowd.ts';
import type { Environment, Instance } from '#test/process.ts';
import { callApi, until } from '#test/service.ts';

/** The acknowledged submissions by entry: id, and the hash of the file if there is one. */
type Acknowledged = Map<string, { id: string; hash?: string }>;

/** What an instance must contain after every restore or move. */
export type Site = {
  form: PublishedForm;
  /** A form of another workspace, with many submissions. */
  large: PublishedForm;
  acknowledged: Acknowledged;
  /** The path and query of a signed link to a file. */
  link: string;
  secret: string;
};

/** Enough submissions for a command to take a few seconds, most of them for its work. */
const large = 30_000;
const files = { count: 30, bytes: 500_000 } as const;

/** Fills a running instance with data for a backup or move. */
export async function fill(instance: Instance): Promise<Site> {
  const site = { form: await publishForm(instance), large: await publishForm(instance) };
  await addSubmissions(instance, site.large.id, large);
  const acknowledged: Acknowledged = new Map();
  for (let number = 0; number < files.count; number += 1) {
    const failure = await send(site.form, { acknowledged, entry: `with${number}file`, bytes: files.bytes });
    assert.equal(failure, undefined);
  }
  const [{ id }] = acknowledged.values() as unknown as [{ id: string }];
  const { pathname, search } = await findFile(instance, site.form, id);
  const secret = (await findInstanceKey(instance.dataDir, undefined))!;
  return { ...site, acknowledged, link: pathname + search, secret };
}

/**
 * Submits once.
 * @returns the failure if it was not acknowledged.
 */
async function send(
  { publicUrl }: PublishedForm,
  { acknowledged, entry, bytes }: { acknowledged: Acknowledged; entry: string; bytes?: number },
): Promise<string | undefined> {
  const content = bytes === undefined ? undefined : randomBytes(bytes / 2).toString('hex');
  const file = content === undefined ? undefined : new Blob([content], { type: 'text/plain' });
  const outcome = await submitEntry(publicUrl, entry, file);
  if ('failure' in outcome) return outcome.failure;
  acknowledged.set(entry, { id: outcome.id, ...(content !== undefined && { hash: hashOf(content) }) });
  return undefined;
}

const hashOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

const read = (instance: Instance, { key }: PublishedForm, path: string) =>
  callApi(instance.url, key, 'GET', path);

async function findFile(instance: Instance, form: PublishedForm, id: string): Promise<URL> {
  const { body } = await read(instance, form, `/submissions/${id}`);
  const [file] = body.answers['file'] as [{ url: string }];
  return new URL(file.url);
}

export type Load = {
  acknowledged: Acknowledged;
  failures: string[];
  /** Returns the time of the slowest submit so far. */
  longestMs: () => number;
  /** Stops sending and resolves when every request is answered. */
  end(): Promise<void>;
};

/** Submits this many times a second, however long the responses take. One of twenty has a file. */
export const perSecond = 60;
const eachWithFile = 20;

export function sendSteadily(form: PublishedForm, name: string): Load {
  const acknowledged: Acknowledged = new Map();
  const failures: string[] = [];
  const over = new AbortController();
  let longestMs = 0;
  const sendOne = async (number: number): Promise<void> => {
    const since = performance.now();
    const entry = `${name}x${number}y`;
    const file = number % eachWithFile === 0 && { bytes: 20_000 };
    const failure = await send(form, { acknowledged, entry, ...file });
    if (failure !== undefined) failures.push(failure);
    longestMs = Math.max(longestMs, performance.now() - since);
  };
  const sending = (async () => {
    const sent: Promise<void>[] = [];
    const since = performance.now();
    while (!over.signal.aborted) {
      await sleep(Math.max(0, since + (sent.length * 1_000) / perSecond - performance.now()));
      sent.push(sendOne(sent.length));
    }
    await Promise.all(sent);
  })();
  return {
    acknowledged,
    failures,
    longestMs: () => longestMs,
    end() {
      over.abort();
      return sending;
    },
  };
}

/** Queries a database. */
export type Ask = <Row extends object>(sql: string) => Promise<Row[]>;
export const askOf =
  (instance: Instance): Ask =>
  (sql) =>
    instance.query(sql);

/**
 * Starts the service, compares its data with the expected data, and stops it. Checks each submission by the
 * API, the bytes of each file, a search, an issued link and the key.
 * @returns the number of submissions of the form.
 */
export async function checkWhole(
  instance: Instance,
  site: Site,
  { environment, ask }: { environment?: Environment; ask: Ask } = { ask: askOf(instance) },
): Promise<number> {
  const server = await instance.start(environment);
  const entries = [...site.acknowledged];
  const check = async ([entry, { id, hash }]: (typeof entries)[0]): Promise<void> => {
    const { status, body } = await read(instance, site.form, `/submissions/${id}`);
    assert.deepEqual([status, body.answers?.['entry']], [200, entry]);
    if (hash === undefined) return;
    const answer = await fetch(await findFile(instance, site.form, id));
    assert.equal(hashOf(Buffer.from(await answer.arrayBuffer())), hash, entry);
  };
  const share = 8;
  await Promise.all(
    Array.from({ length: share }, async (_, first) => {
      for (let at = first; at < entries.length; at += share) await check(entries[at]!);
    }),
  );
  const [entry, { id }] = entries.at(-1)!;
  const { body: found } = await read(instance, site.form, `/submissions/search?q=${entry}`);
  assert.deepEqual(
    found.data.map((each) => each.id),
    [id],
  );
  const opened = await fetch(instance.url + site.link);
  await opened.arrayBuffer();
  assert.equal(opened.status, 200, 'a link that was given out opens');
  assert.equal(await findInstanceKey(instance.dataDir, instance.environment['SECRET_KEY']), site.secret);
  const [{ count } = { count: 0 }] = await ask<{ count: number }>(
    `select count(*)::int as count from submissions where form_id = '${site.large.id}'`,
  );
  assert.equal(count, large);
  const { body: listed } = await read(instance, site.form, `/forms/${site.form.id}/submissions?per_page=1`);
  assert.equal((await server.terminate()).code, 0, server.output());
  return listed.pagination.total_count;
}

/** No socket, or no database with this name. */
const absent = /^(ENOENT|3D000)$/;

/** Returns undefined if there is no database yet or it is not running. */
const askIfThere = async <Row extends object>(ask: Ask, sql: string): Promise<Row[] | undefined> =>
  ask<Row>(sql).catch((error: Error & { code?: string }) => {
    if (isUnavailableError(error) || absent.test(String(error.code))) return undefined;
    throw error;
  });

/** Returns the current query of `restore` or `move` in a database, or undefined if there is none. */
export async function workIn(ask: Ask): Promise<string | undefined> {
  const rows = await askIfThere<{ query: string }>(
    ask,
    `select regexp_replace(left(query, 60), '\\s+', ' ', 'g') as query from pg_stat_activity
      where application_name = 'formloom restore' and xact_start is not null order by xact_start desc limit 1`,
  );
  return rows?.[0]?.query;
}

/** Waits until a killed `restore` or `move` has no session left, and so no lock. */
export const requireGone = (ask: Ask): Promise<unknown> =>
  until('the sessions of a killed command to end', async () => {
    const left = `select from pg_stat_activity where application_name = 'formloom restore'`;
    return ((await askIfThere(ask, left)) ?? []).length === 0;
  });

/** Counts the main rows of an instance. */
export async function countRows(ask: Ask): Promise<number> {
  const made = await askIfThere<{ is_made: boolean }>(
    ask,
    "select to_regclass('instance') is not null as is_made",
  );
  if (!made?.[0]!.is_made) return 0;
  const counts = ['workspaces', 'forms', 'submissions', 'files', 'search_documents', 'instance'].map(
    (table) => `(select count(*) from ${table})`,
  );
  return Number((await ask<{ rows: string }>(`select ${counts.join(' + ')} as rows`))[0]!.rows);
}

/** Returns where the instance was moved to, according to its database. */
export const findMoved = async (ask: Ask): Promise<string | undefined> =>
  (await countRows(ask)) === 0
    ? undefined
    : ((await ask<{ moved_to: string | null }>('select moved_to from instance'))[0]?.moved_to ?? undefined);
