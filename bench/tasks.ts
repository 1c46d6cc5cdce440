import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createForm } from '#forms/forms.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import type { Instance, ServerProcess } from '#test/process.ts';
import { callApi } from '#test/service.ts';
import { cases } from './cases.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import type { LoadFigures, LoadOrder } from './load.ts';
import { memoryOf } from './memory.ts';
import { middle } from './report.ts';
import type { Site } from './site.ts';

/** A long operation that is measured as a whole; `run` returns its result as a sentence. */
export type Task = { name: string; run: (scene: Scene) => Promise<string> };

type Scene = {
  instance: Instance;
  server: ServerProcess;
  /** The bare server (bare.ts). */
  bare: { pid: number; port: number };
  site: Site;
  load: (order: LoadOrder) => Promise<LoadFigures>;
};

export const tasks: readonly Task[] = [
  { name: 'export', run: exportCsv },
  { name: 'delete', run: deleteForm },
];

const exports = 3;

/**
 * Exports a form with half of the submissions as CSV at full speed, in turn with the bare server. That server
 * sends the rows of the same SQL unchanged.
 */
async function exportCsv({ instance, server, bare, site }: Scene): Promise<string> {
  const { workspaceId, formId, key } = site;
  const [service, limit]: [Download, Download] = [
    { pid: server.pid, address: `${instance.url}/api/v1/forms/${formId}/submissions/export?format=csv`, key },
    {
      pid: bare.pid,
      address: `http://127.0.0.1:${bare.port}/export?workspace=${workspaceId}&form=${formId}`,
      key,
    },
  ];
  const before = (await memoryOf(server.pid)).now;
  const downloads: { service: Downloaded[]; bare: Downloaded[] } = { service: [], bare: [] };
  for (let round = 0; round < exports; round += 1) {
    downloads.service.push(await download(service));
    downloads.bare.push(await download(limit));
  }
  const describe = (of: Downloaded[]): string =>
    `${Math.round(middle(of.map(({ perSecond }) => perSecond)))} rows per second with ${middle(of.map(({ cpu }) => cpu)).toFixed(1)} µs of CPU each`;
  const ratio = middle(
    downloads.service.map(({ perSecond }, index) => perSecond / downloads.bare[index]!.perSecond),
  );
  const [{ records, bytes }] = downloads.service as [Downloaded];
  const most = Math.max(...downloads.service.map((each) => each.most));
  return `Export: ${records - 1} rows as CSV, ${Math.round(bytes / 2 ** 20)} MB: ${describe(downloads.service)}; bare ${describe(downloads.bare)}; service / bare ${Math.round(100 * ratio)} %; ${before} MB of memory before, at most ${most} MB during the export.`;
}

/** A file of a process, for the holder of the key. */
type Download = { pid: number; address: string; key: string };
/** `cpu`: µs of CPU per line; `most`: peak resident memory in MB. */
type Downloaded = { records: number; bytes: number; perSecond: number; cpu: number; most: number };

async function download({ pid, address, key }: Download): Promise<Downloaded> {
  const began = { at: performance.now(), cpu: await cpuSeconds({ pid }) };
  const request = get(address, { headers: { Authorization: `Bearer ${key}` } });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`export: ${answer.statusCode}`);
  let [bytes, records, most, looked] = [0, 0, 0, 0];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) records += 1;
    if (performance.now() - looked < 200) continue;
    looked = performance.now();
    most = Math.max(most, (await memoryOf(pid)).now);
  }
  const seconds = (performance.now() - began.at) / 1_000;
  const cpu = (1e6 * ((await cpuSeconds({ pid })) - began.cpu)) / records;
  return { records, bytes, perSecond: records / seconds, cpu, most };
}

const deleted = 100_000;

/** Deletes a form with many submissions while others are read. */
async function deleteForm({ instance, server, site, load }: Scene): Promise<string> {
  const formId = await copyForm(instance, site);
  const reads = cases.find(({ name }) => name === 'get')!.service(site);
  const port = Number(new URL(server.url).port);
  const order = { port, requests: reads, concurrency: 8, seconds: 3 };
  const before = await load(order);
  const began = performance.now();
  const { status } = await callApi(instance.url, site.key, 'DELETE', `/forms/${formId}`);
  if (status !== 204) throw new Error(`delete: ${status}`);
  const answeredMs = performance.now() - began;
  const during = await load(order);
  const left = `select from submissions where workspace_id = '${site.workspaceId}' and form_id = '${formId}' limit 1`;
  while ((await instance.query(left)).length > 0) await sleep(100);
  const seconds = (performance.now() - began) / 1_000;
  const describe = ({ p50, p99 }: LoadFigures): string =>
    `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(0)} ms`;
  return `Delete: a form with ${deleted} submissions. Response after ${answeredMs.toFixed(0)} ms, all deleted after ${seconds.toFixed(0)} s. Reads of other forms (c=8): ${describe(before)} before; ${describe(during)} during the deletion.`;
}

/** Creates a form with copies of the newest submissions of the first form. */
async function copyForm(
  instance: Instance,
  { workspaceId, formId, structure, count }: Site,
): Promise<string> {
  const options = { pool: 1, log: openLog('silent'), limits: false };
  const database = openDatabase({ connectionString: instance.databaseUrl }, options);
  const { id } = await createForm(database, workspaceId, { structure, status: 'published' });
  await database.query(
    `with copied as (
       select *, overlay(s.id::text placing right($3::uuid::text, 10) from 27)::uuid as copy from submissions s
       where workspace_id = $1 and form_id = $2 order by s.id desc limit $4),
     written as (
       insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at)
       select workspace_id, copy, $3, 1, status, answers, reference, has_files, created_at, updated_at, completed_at from copied)
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select d.workspace_id, copied.copy, $3, d.terms from copied
     join search_documents d on d.workspace_id = $1 and d.submission_id = copied.id`,
    [workspaceId, formId, id, Math.min(deleted, count / 2)],
  );
  await database.query('vacuum (analyze)');
  await database.end();
  return id;
}
