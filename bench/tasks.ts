import { setTimeout as sleep } from 'node:timers/promises';
import { createForm } from '#forms/forms.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import type { Instance, ServerProcess } from '#test/process.ts';
import { callApi } from '#test/service.ts';
import { cases } from './cases.ts';
import type { LoadFigures, LoadOrder } from './load.ts';
import { memoryOf } from './memory.ts';
import type { Site } from './site.ts';

/** What takes a while and is measured as a whole; `run` says what it found in a sentence. */
export type Task = { name: string; run: (scene: Scene) => Promise<string> };

type Scene = {
  instance: Instance;
  server: ServerProcess;
  site: Site;
  load: (order: LoadOrder) => Promise<LoadFigures>;
};

export const tasks: readonly Task[] = [
  { name: 'export', run: exportCsv },
  { name: 'delete', run: deleteForm },
];

/** A form with half of the submissions as CSV, read as fast as it comes. */
async function exportCsv({ instance, server, site }: Scene): Promise<string> {
  const address = `${instance.url}/app/api/workspaces/${site.workspaceId}/forms/${site.formId}/submissions/export?format=csv`;
  const before = (await memoryOf(server.pid)).now;
  const began = performance.now();
  const answer = await fetch(address, { headers: { Cookie: site.cookie } });
  if (!answer.ok) throw new Error(`export: ${answer.status} ${await answer.text()}`);
  let [bytes, records, most, looked] = [0, -1, 0, 0];
  for await (const chunk of answer.body! as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === 10) records += 1;
    if (performance.now() - looked < 200) continue;
    looked = performance.now();
    most = Math.max(most, (await memoryOf(server.pid)).now);
  }
  const seconds = (performance.now() - began) / 1_000;
  return `Export: ${records} rows as CSV, ${Math.round(bytes / 2 ** 20)} MB, in ${seconds.toFixed(1)} s: ${Math.round(records / seconds)} rows per second; memory before ${before} MB, during it at most ${most} MB.`;
}

const deleted = 100_000;

/** A form with many submissions is deleted while others are read. */
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
  return `Delete: a form with ${deleted} submissions, answered after ${answeredMs.toFixed(0)} ms, all gone after ${seconds.toFixed(0)} s; reading others (c=8) before ${describe(before)}, meanwhile ${describe(during)}.`;
}

/** A form with copies of the newest submissions of the first form. */
async function copyForm(
  instance: Instance,
  { workspaceId, formId, structure, count }: Site,
): Promise<string> {
  const options = { pool: 1, log: openLog('silent'), limits: false };
  const database = openDatabase({ connectionString: instance.databaseUrl }, options);
  const { id } = await createForm(database, workspaceId, { structure, status: 'published' });
  await database.query(
    `with copied as (
       select *, overlay(s.id::text placing right($3::uuid::text, 12) from 25)::uuid as copy from submissions s
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
