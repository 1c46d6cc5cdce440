import assert from 'node:assert/strict';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { openVault } from '#kit/vault.ts';
import { command, startCommand } from '#test/command-line.ts';
import { type PublishedForm, publishForm, submitEntry } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { dial, standBefore } from '#test/relay.ts';
import { until } from '#test/service.ts';

/*
 * npm run test:long -- commands <rounds>
 *
 * Sends kill -9 to each command that changes the instance, beside a service that keeps running or starts
 * later. Kills at a moment and at a message to a database in turn. Default: 6 rounds each.
 */
const rounds = Number(process.argv[2] ?? 6);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`"${process.argv[2]}" is no number of rounds.`);

// The database of the instance has two cells.

const ask = async (url: string, sql: string): Promise<Record<string, unknown>[]> => {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(sql);
  await client.end();
  return rows;
};

/** How many messages commands have sent to the databases, and the last one. */
const heard = { count: 0, last: '', kill: (_count: number): void => {} };
const ofCommand = /application_name\0formloom\0/;

/** Returns the address of a proxy in front of a database that counts the messages of commands. */
const overhear = (url: string): Promise<string> =>
  standBefore(url, (client) => {
    const upstream = dial(url);
    let counts: boolean | undefined;
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      counts ??= ofCommand.test(text);
      if (counts) {
        heard.last = text.replaceAll(/[^ -~]+/g, ' ').trim();
        heard.kill((heard.count += 1));
      }
      upstream.write(chunk);
    });
    upstream.pipe(client);
    client.on('close', () => upstream.end());
    upstream.on('error', () => client.destroy());
  });

const receiver = await openReceiver();
const instance = await makeInstance();
let server = await instance.start();
const restart = async (): Promise<void> => {
  await server.terminate();
  server = await instance.start();
};
const formloom = (...args: string[]): ReturnType<typeof command> => command(instance.environment, ...args);
const done = async (...args: string[]): Promise<void> => {
  const { code, complaint } = await formloom(...args);
  assert.equal(code, 0, complaint);
};
await done('cell', 'create', 'near');
const forms = {
  default: await publishForm(instance, receiver.url),
  near: await publishForm(instance, receiver.url, undefined, 'cell_near, public'),
};
const keyFile = join(instance.dataDir, 'secret.key');
const keys = async (): Promise<string> => (await readFile(keyFile, 'utf8')).trim();
/** An issued link, signed with the key. */
const link = 'the text of a link';

/** Asserts that pages, submits, webhook secrets and signed file links work as before, in every cell. */
async function checkForms(name: string): Promise<void> {
  for (const [cell, form] of Object.entries(forms)) await checkForm(form, `${name} of ${cell}`);
}

/** Returns the problems that `doctor` finds and asserts that each has a remedy. */
async function findProblems(): Promise<string[]> {
  const { answer } = await formloom('doctor');
  const { data } = answer as {
    data: { check: string; state: string; finding: string; remedy: string | null }[];
  };
  const problems = data.filter(({ state }) => state === 'problem');
  for (const { finding, remedy } of problems) assert.match(`${finding} ${remedy ?? ''}`, /`.+`/);
  return problems.map(({ check }) => check);
}

/** Asserts that everything works as before and `doctor` finds no problems. */
async function checkAll(name: string): Promise<void> {
  await checkForms(name);
  assert.deepEqual(await findProblems(), [], name);
}

async function checkForm(form: PublishedForm, entry: string): Promise<void> {
  const { publicUrl } = form;
  await until(`the page of ${entry}`, async () => (await fetch(publicUrl)).status === 200);
  const body = new FormData();
  body.set('entry', entry);
  body.set('file', new Blob([entry], { type: 'text/plain' }), 'entry.txt');
  const sent = await until(`a submit of ${entry}`, async () => {
    const response = await fetch(publicUrl, {
      method: 'POST',
      body,
      headers: { Accept: 'application/json' },
    });
    return response.status === 201 && ((await response.json()) as { id: string });
  });
  assert.ok('id' in (await submitEntry(publicUrl, `${entry}, again`)));
  const { body: submission } = await form.call('GET', `/submissions/${sent.id}`);
  const [file] = submission.answers['file'] as { url: string }[];
  assert.equal(await (await fetch(file!.url)).text(), entry);
  await until(`the webhook to hear of ${entry}`, async () =>
    receiver.requests.some((request) => request.body.includes(sent.id)),
  );
}

/** A command and how to observe it from outside. */
type Subject = {
  args: readonly string[];
  /** Creates what the command works on. */
  prepare?: () => Promise<unknown>;
  /** Returns the progress of the command. */
  look: () => Promise<string>;
  /**
   * The complaint of a second run if the first had finished. The command always runs again, unless that would
   * do one thing more.
   */
  isThrough?: RegExp;
  isRunAgain?: () => Promise<boolean>;
  /** Checks and reverts the effect after each round. */
  finish?: () => Promise<unknown>;
};

/** The duration of a command and its number of messages to a database. */
type Course = { ms: number; count: number };

const environment = { ...instance.environment, DATABASE_URL: await overhear(instance.databaseUrl) };

/** Runs a command without a kill. */
async function measure({ args, prepare, finish }: Subject): Promise<Course> {
  await prepare?.();
  heard.count = 0;
  const since = performance.now();
  const { code, complaint } = await startCommand(environment, ...args).ended;
  assert.equal(code, 0, complaint);
  const course = { ms: performance.now() - since, count: heard.count };
  await finish?.();
  return course;
}

/**
 * Kills a command partway and runs it again. Kills by the clock come more often towards the end, because the
 * command loads its code first.
 */
async function killOnce(
  name: string,
  subject: Subject,
  round: number,
  { ms, count }: Course,
  isServed = true,
): Promise<void> {
  const part = (Math.ceil(round / 2) - Math.random()) / Math.ceil(rounds / 2);
  const byClock = count === 0 || round % 2 === 1;
  const [afterMs, atCount] = [Math.round(Math.sqrt(part) * ms), Math.ceil(part * count)];
  Object.assign(heard, { count: 0, last: '' });
  const running = startCommand(count === 0 ? instance.environment : environment, ...subject.args);
  if (!byClock) heard.kill = (said) => void (said === atCount && running.kill());
  const timer = byClock ? setTimeout(running.kill, afterMs) : undefined;
  const { wasKilled } = await running.ended;
  clearTimeout(timer);
  const { last } = heard;
  heard.kill = () => {};
  const moment = byClock ? `after ${afterMs} of ${Math.round(ms)} ms` : `at its word ${atCount} of ${count}`;
  const fell = wasKilled ? `${await subject.look()}; said last: ${last.slice(0, 70)}` : 'it was through';
  const problems = await findProblems();
  const found = problems.length > 0 ? `; the doctor: ${problems.join(', ')}` : '';
  process.stdout.write(`${name}, round ${round}: killed ${moment}: ${fell}${found}\n`);
  if (isServed) await checkForms(`${name} ${round} killed`);
  if (subject.isRunAgain && !(await subject.isRunAgain())) return;
  const again = await formloom(...subject.args);
  assert.ok(again.code === 0 || subject.isThrough?.test(again.complaint), again.complaint);
}

function killRounds(name: string, subject: Subject): void {
  test(`${rounds} times kill -9 of \`${name}\``, async () => {
    const course = await measure(subject);
    for (let round = 1; round <= rounds; round += 1) {
      await subject.prepare?.();
      await killOnce(name, subject, round, course);
      await checkAll(`${name} ${round}`);
      await subject.finish?.();
    }
    await checkAll(name);
  });
}

killRounds('cell create', {
  args: ['cell', 'create', 'extra'],
  look: async () => {
    const [found] = await ask(
      instance.databaseUrl,
      "select to_regnamespace('cell_extra') is not null as made, exists (select from cells where name = 'extra') as listed",
    );
    return `${found!['made'] ? 'its schema is there' : 'no schema'}, ${found!['listed'] ? 'listed' : 'not listed'}`;
  },
  isThrough: /A cell extra already exists/,
  finish: async () => {
    // The service keeps its cells until it ends, and its database ends with it.
    await instance.query("drop schema cell_extra cascade; delete from cells where name = 'extra'");
    await restart();
  },
});

const mark = join(instance.dataDir, 'uploads', 'instance-mark');
const hasMark = async (): Promise<boolean> => (await readFile(mark).catch(() => undefined)) !== undefined;
killRounds('storage replace', {
  args: ['storage', 'replace'],
  prepare: () => rm(mark),
  look: async () => ((await hasMark()) ? 'marked' : 'not marked'),
  finish: async () => assert.ok(await hasMark()),
});

// Keys --------------------------------------------------------------------------------------------------

const count = async (): Promise<number> => (await keys()).split(',').length;
const fingerprint = async (): Promise<string> => {
  const [row] = await ask(instance.databaseUrl, 'select key_fingerprint from instance');
  return row!['key_fingerprint'] as string;
};
const isOfNow = async (): Promise<boolean> =>
  (await fingerprint()) === openVault(await keys()).derive('fingerprint')[0];
const heldAnswers = 4_000;

/** Seals many answers, so that resealing takes a while. */
async function sealAnswers(): Promise<void> {
  const sealed = openVault(await keys())
    .seal('answers', 'held')
    .toString('hex');
  await instance.query(
    `delete from repeatable_requests;
     insert into repeatable_requests (workspace_id, key, fingerprint, begun_at, answer)
     select id, uuid_send(gen_random_uuid()), '', now(), '\\x${sealed}' from (select id from workspaces limit 1) w, generate_series(1, ${heldAnswers})`,
  );
}

/** Returns how many answers are sealed with the current key. Asserts that the key opens all of them. */
async function resealedAnswers(): Promise<number> {
  const vault = openVault(await keys());
  const rows = await instance.query<{ answer: Buffer }>(
    'select answer from repeatable_requests where answer is not null',
  );
  for (const { answer } of rows) assert.equal(vault.unseal('answers', answer), 'held');
  assert.equal(rows.length, heldAnswers);
  return rows.filter(({ answer }) => answer.subarray(0, 4).equals(vault.keyId)).length;
}

const steps: Readonly<Record<'add' | 'reseal' | 'forget', Subject>> = {
  add: {
    args: ['instance-key', 'add'],
    look: async () => `${await count()} keys`,
    isRunAgain: async () => (await count()) === 1,
  },
  reseal: {
    args: ['instance-key', 'reseal'],
    look: async () =>
      `${await resealedAnswers()} of ${heldAnswers} sealed anew, ${(await isOfNow()) ? 'noted' : 'not noted'}`,
  },
  forget: { args: ['instance-key', 'forget'], look: async () => `${await count()} keys` },
};

test(`${rounds} times kill -9 of each step of changing the key`, async () => {
  const courses: Record<string, Course> = {};
  for (let round = 0; round <= rounds; round += 1) {
    await sealAnswers();
    const former = openVault(await keys()).sign('edit links', [link]);
    for (const [step, subject] of Object.entries(steps)) {
      if (round === 0) courses[step] = await measure(subject);
      else await killOnce(`instance-key ${step}`, subject, round, courses[step]!);
      // Until a restart, a service with the old key cannot open resealed data.
      if (step !== 'reseal') await restart();
      await checkAll(`${step} ${round}`);
      assert.equal(openVault(await keys()).verify('edit links', [link], former), step !== 'forget', step);
    }
    assert.deepEqual([await count(), await resealedAnswers()], [1, heldAnswers]);
    const files = (await readdir(instance.dataDir)).filter((name) => name.startsWith('secret'));
    assert.deepEqual(files, ['secret.key']);
  }
});

test(`${rounds} times kill -9 of \`instance-key replace\`, which must start the database itself`, async () => {
  const kept = `${keyFile}.kept`;
  const lose = async (): Promise<void> => {
    await server.terminate();
    await rename(keyFile, kept);
  };
  const find = async (): Promise<void> => {
    await rename(kept, keyFile);
    await done('instance-key', 'replace');
    server = await instance.start();
  };
  await lose();
  const since = performance.now();
  const { code, complaint } = await startCommand(instance.environment, 'instance-key', 'replace').ended;
  assert.equal(code, 0, complaint);
  const ms = performance.now() - since;
  await find();
  const subject: Subject = {
    args: ['instance-key', 'replace'],
    look: async () => ((await readdir(instance.dataDir)).includes('secret.key') ? 'another key' : 'no key'),
  };
  for (let round = 1; round <= rounds; round += 1) {
    await lose();
    await killOnce('instance-key replace', subject, round, { ms, count: 0 }, false);
    // With the new key everything serves except what it cannot open.
    server = await instance.start();
    for (const { publicUrl } of [forms.default, forms.near])
      assert.equal((await fetch(publicUrl)).status, 200);
    await server.terminate();
    await find();
    await checkAll(`replace ${round}`);
  }
});
