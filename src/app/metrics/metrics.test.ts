import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { readConfig } from '#kit/config.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog, readTraceparent } from '#kit/log.ts';
import { watchPoolWaits } from '#kit/pooling.ts';
import { makeOwner, publishForm, submitEntry } from '#test/crowd.ts';
import { testDatabase } from '#test/database.ts';
import { openMailServer } from '#test/mail-server.ts';
import { makeInstance } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { freePort, until } from '#test/service.ts';
import { formatMetricsReports, reportInstanceMetrics } from './open-metrics.ts';

/* Two processes, so that the counts of one are visible through the other. */

const token = 'sixteen-characters-or-more';
const listen = `127.0.0.1:${await freePort()}`;
const mailServer = await openMailServer();
const instance = await makeInstance({
  WEB_PROCESSES: '2',
  METRICS_LISTEN: listen,
  METRICS_TOKEN: token,
  LOG_LEVEL: 'info',
  SMTP_URL: mailServer.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_RETRY_DELAYS: '0.1,0.1,0.2,0.5,1,2,5',
});
const server = await instance.start();
/** The metrics of an unused instance. */
const fresh = await (await fetch(`http://${listen}/metrics`)).text();
const receiver = await openReceiver();
const form = await publishForm(instance, receiver.url);

const read = async (): Promise<string> => (await fetch(`http://${listen}/metrics`)).text();
/** Returns the values of a metric's series whose labels contain all of `labels`. */
const valuesOf = (text: string, name: string, ...labels: string[]): number[] =>
  text
    .split('\n')
    .filter((line) => new RegExp(`^${name}[{ ]`).test(line) && labels.every((label) => line.includes(label)))
    .map((line) => Number(line.split(' ').at(-1)));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test('one response covers all processes: requests by route pattern, deliveries, the queue and the database', async () => {
  for (let entry = 0; entry < 12; entry += 1) await submitEntry(form.publicUrl, `entry ${entry}`);
  await receiver.waitFor(12);
  // Separate connections go to the processes in turn.
  for (let time = 0; time < 4; time += 1)
    await fetch(`${instance.url}/healthz`, { headers: { Connection: 'close' } });
  const unknown = await fetch(`${instance.url}/api/v1/forms`, { method: 'PROPFIND' });
  assert.equal(unknown.status, 401, 'of a method that no route answers');
  const text = await until('all deliveries to be settled and counted', async () => {
    const scraped = await read();
    return sum(valuesOf(scraped, 'formloom_delivery_attempts_total', 'status="Success"')) === 12 && scraped;
  });
  assert.ok(text.endsWith('# EOF\n'), 'as OpenMetrics says it');
  const submits = ['method="POST"', 'route="/f/:id"', 'status="201"'] as const;
  assert.equal(sum(valuesOf(text, 'formloom_request_seconds_count', ...submits)), 12);
  for (const process of ['1', '2'])
    assert.ok(sum(valuesOf(text, 'formloom_request_seconds_count', `process="${process}"`)) > 0, process);
  assert.ok(!text.includes(form.id), 'an id would be a series of its own');
  assert.ok(!text.includes('PROPFIND'), 'nor do strangers make series');
  for (const process of ['primary', '1', '2'])
    assert.equal(
      valuesOf(text, 'nodejs_eventloop_lag_p99_seconds', `process="${process}"`).length,
      1,
      process,
    );
  assert.deepEqual(valuesOf(text, 'formloom_database_up'), [1]);
  assert.ok(valuesOf(text, 'formloom_disk_free_bytes', 'disk="data"')[0]! > 0);
  assert.ok(valuesOf(text, 'formloom_database_commits_total')[0]! > 0);
});

test('waiting jobs are reported by kind, with the age of the longest overdue job', async () => {
  await instance.query(
    `insert into jobs (workspace_id, id, kind, lane, payload, run_at, created_at)
     select id, gen_random_uuid(), 'test.unknown', 'test', '{}', now() - interval '1 hour', now() from workspaces limit 1`,
  );
  const kind = 'kind="test.unknown"';
  const text = await until('the next look at the database', async () => {
    const scraped = await read();
    return valuesOf(scraped, 'formloom_jobs_due', kind).length === 1 && scraped;
  });
  assert.deepEqual(valuesOf(text, 'formloom_jobs_due', kind), [1]);
  assert.ok(valuesOf(text, 'formloom_jobs_oldest_due_seconds', kind)[0]! >= 3_600);
});

test("on the service's port /metrics requires the token, and every process returns the metrics of all", async () => {
  const { headers } = await fetch(`http://${listen}/metrics`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff', 'at its own address as everywhere');
  const ask = (authorization?: string) =>
    fetch(`${instance.url}/metrics`, {
      headers: { Connection: 'close', ...(authorization !== undefined && { Authorization: authorization }) },
    });
  assert.equal((await ask()).status, 401);
  assert.equal((await ask('Bearer something-else-entirely')).status, 401);
  for (const answer of await Promise.all([1, 2].map(() => ask(`Bearer ${token}`)))) {
    assert.equal(
      answer.headers.get('content-type'),
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    assert.ok(valuesOf(await answer.text(), 'formloom_request_seconds_count', 'process="1"').length > 0);
  }
});

test('the dashboard and the alerts query only series that exist from the start', async () => {
  const folder = new URL('../../../deploy/monitoring/', import.meta.url);
  const readText = (name: string): Promise<string> => readFile(new URL(name, folder), 'utf8');
  const dashboard = JSON.parse(await readText('formloom-dashboard.json')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const alerts = parse(await readText('formloom-alerts.yml')) as {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
  };
  const queries = [
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr }))),
    ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ title: alert, expr }))),
  ];
  assert.ok(queries.length > 30);
  const { database } = await testDatabase();
  const config = { ...readConfig(instance.environment), valkeyUrl: `redis://${listen}` };
  const withValkey = `${fresh}\n${await formatMetricsReports([await reportInstanceMetrics({ database, config })])}`;
  for (const { title, expr: written } of queries) {
    const expr = written.replaceAll('$__rate_interval', '1m');
    const selectors: string[] = [];
    parser.parse(expr).iterate({
      enter(node) {
        assert.ok(!node.type.isError, `${title}: ${expr}`);
        if (node.name === 'VectorSelector') selectors.push(expr.slice(node.from, node.to));
      },
    });
    assert.ok(selectors.length > 0, title);
    for (const selector of selectors) {
      const name = /^[\w:]+/.exec(selector)![0];
      // Queries of a single series. A pattern, such as all errors, may have no series yet.
      const labels = selector.match(/\w+="[^"]*"/g) ?? [];
      if (name !== 'up')
        assert.ok(valuesOf(withValkey, name, ...labels).length > 0, `${title} asks for ${selector}`);
    }
  }
});

test('an instance with a backup schedule reports a failed last backup, and that none was ever made', async () => {
  const { database } = await testDatabase();
  const config = readConfig({ ...instance.environment, BACKUP_SCHEDULE: '0 3 * * *' });
  const readValues = async (): Promise<number[]> => {
    const text = await formatMetricsReports([await reportInstanceMetrics({ database, config })]);
    const names = ['scheduled', 'made', 'last_failed', 'failed'];
    return names.flatMap((name) => valuesOf(text, `formloom_backups?_${name}`));
  };
  const age = async (): Promise<number> =>
    valuesOf(
      await formatMetricsReports([await reportInstanceMetrics({ database, config })]),
      'formloom_backup_age_seconds',
    )[0]!;
  const add = (hours: number, problem: string | null) =>
    database.query(
      `insert into backups (due_at, name, begun_at, finished_at, problem)
       select at, 'a', at, at, $2 from (select now() - make_interval(hours => $1) as at) as of`,
      [hours, problem],
    );
  assert.deepEqual(await readValues(), [1, 0, 0, 0]);
  assert.equal(await age(), 0);
  await add(72, 'the disk is full');
  assert.deepEqual(await readValues(), [1, 0, 1, 1]);
  assert.ok((await age()) >= 72 * 3_600, 'since the first was due');
  await add(48, null);
  assert.deepEqual(await readValues(), [1, 1, 0, 1]);
  await add(24, 'the disk is full');
  assert.deepEqual(await readValues(), [1, 1, 1, 2]);
  assert.ok((await age()) >= 48 * 3_600, 'one that failed is no backup');
});

test('a mail server that rejects emails is reported immediately, and so is its recovery', async () => {
  const { workspaceId } = await makeOwner(instance);
  const login = ['--email', 'owner@example.test', '--password', 'a long secret password'];
  await instance.cli('user create', ...login, '--workspace', workspaceId, '--role', 'owner');
  const isAway = (): Promise<number> =>
    read().then((text) => sum(valuesOf(text, 'formloom_mail_server_away')));
  assert.equal(await isAway(), 0);
  await mailServer.goAway();
  const path = join(instance.dataDir, 'text');
  await writeFile(path, 'Hello.');
  await instance.cli('announce', '--subject', 'Hello', '--text-file', path);
  await until('it to be found away', async () => (await isAway()) === 1);
  await mailServer.comeBack();
  await mailServer.waitForOne('owner@example.test');
  await until('it to be found back', async () => (await isAway()) === 0);
});

test("a visitor's trace appears in the log lines of the request and of its delivery, and in the delivery's headers", async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
  const before = receiver.requests.length;
  const send = (headers: Record<string, string>) =>
    fetch(form.publicUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
      body: JSON.stringify({ answers: { entry: 'traced' } }),
    });
  assert.equal((await send({ traceparent })).status, 201);
  const traced = (await receiver.waitFor(before + 1)).at(-1)!;
  assert.equal(traced.headers['traceparent'], traceparent);
  const line = await until('the line of the request', async () =>
    server
      .output()
      .split('\n')
      .find((each) => each.includes(trace)),
  );
  assert.equal((JSON.parse(line) as { trace: string; msg: string }).trace, trace);
  assert.equal((await send({ traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` })).status, 201);
  const plain = (await receiver.waitFor(before + 2)).at(-1)!;
  assert.equal(plain.headers['traceparent'], undefined);
});

test('a traceparent is only accepted as the standard defines it', () => {
  const ids = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';
  assert.equal(readTraceparent(`00-${ids}-01`), `00-${ids}-01`);
  assert.equal(readTraceparent(`cc-${ids}-01-what-a-later-version-says`), `00-${ids}-01`);
  const bad = [
    `00-${ids}-01-more`,
    `ff-${ids}-01`,
    `00-${ids.toUpperCase()}-01`,
    `00-${ids}`,
    `00-${ids}-01\n`,
    '',
    undefined,
  ];
  for (const header of bad) assert.equal(readTraceparent(header), undefined, String(header));
});

test('waiting times for a pool connection are reported, but not if one is free', async () => {
  const database = openDatabase(
    { connectionString: instance.databaseUrl },
    { pool: 1, log: openLog('silent') },
  );
  after(() => database.end());
  const waits: number[] = [];
  watchPoolWaits(database, (seconds) => waits.push(seconds));
  await database.query('select 1');
  assert.deepEqual(waits, []);
  await Promise.all([database.query('select pg_sleep(0.05)'), database.query('select 1')]);
  const client = await database.connect();
  const second = database.connect();
  client.release();
  (await second).release();
  assert.equal(waits.length, 2);
  assert.ok(waits[0]! >= 0.04);
});
