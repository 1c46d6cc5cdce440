import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeXlsxStream } from 'hucre/xlsx';
import sharp from 'sharp';
import { permissionNames } from '#rules/permissions.ts';
import { isSlice } from '#test/cases.ts';
import { makeOwner, type PublishedForm, publishForm } from '#test/crowd.ts';
import type { Instance, ServerProcess } from '#test/process.ts';
import { type Answer, callApi, until } from '#test/service.ts';

/** The files that each round imports: a form package, and submissions as CSV and as a workbook. */
export type ImportSite = {
  instance: Instance;
  form: Buffer;
  answers: Readonly<Record<'csv' | 'xlsx', object>>;
};

const versions = 12;
/**
 * The rows of each submission file. `npm test` uses a third of what `npm run test:long -- kill` uses. One
 * step imports 100 rows.
 */
const lines = isSlice ? 300 : 900;

/** Creates the files on a running instance. */
export async function makeFiles(instance: Instance): Promise<ImportSite> {
  const owner = await publishForm(instance, undefined, permissionNames);
  const photo = await sharp(randomBytes(400 * 300 * 3), { raw: { width: 400, height: 300, channels: 3 } })
    .png()
    .toBuffer();
  const logo = (await owner.call('POST', '/images', photo)).body.id;
  const { structure } = (await owner.call('GET', `/forms/${owner.id}`)).body;
  for (let number = 1; number < versions; number += 1)
    await owner.call('PUT', `/forms/${owner.id}`, {
      structure: { ...structure, attrs: { name: `Guest book ${number}` } },
      settings: { theme: { logo } },
    });
  const form = await fetch(`${instance.url}/api/v1/forms/${owner.id}/package`, {
    headers: { Authorization: `Bearer ${owner.key}` },
  });
  return {
    instance,
    form: Buffer.from(await form.arrayBuffer()),
    answers: { csv: { kind: 'csv', text: rows.join('\n') }, xlsx: { kind: 'xlsx', data: await workbook() } },
  };
}

const rows = ['entry', ...Array.from({ length: lines }, (_, index) => `line ${index}`)];

async function workbook(): Promise<string> {
  const cells = (async function* () {
    for (const row of rows) yield [row];
  })();
  const chunks = await Array.fromAsync(
    writeXlsxStream(cells, { name: 'Answers' }) as AsyncIterable<Uint8Array>,
  );
  return Buffer.concat(chunks).toString('base64');
}

/** The progress of each import. */
export type Progress = { lines: number; unpacking: number };

/**
 * Runs one round: starts all imports in parallel, kills server and database, starts them again, and checks
 * that each import ends exactly once.
 * @param moment resolves when it is time to kill. Its argument reads the progress of the imports.
 * @returns the new server, and the progress of the imports at the kill.
 */
export async function killImports(
  site: ImportSite,
  server: ServerProcess,
  moment: (progress: () => Promise<Progress>) => Promise<unknown>,
): Promise<{ server: ServerProcess; killedAt: Progress }> {
  const { instance } = site;
  const answered = { csv: await publishForm(instance), xlsx: await publishForm(instance) };
  const unpackInto = await makeOwner(instance, permissionNames);
  const key: string = randomUUID();
  const unpack = (once = key): Promise<Answer> =>
    callApi(instance.url, unpackInto.key, 'POST', '/forms/package', site.form, { 'Idempotency-Key': once });
  const progress = async (): Promise<Progress> =>
    (
      await instance.query<Progress>(
        `select (select coalesce(min(done), 0)::int from tasks
                 where form_id in ('${answered.csv.id}', '${answered.xlsx.id}')) as lines,
                (select count(*)::int from repeatable_requests where workspace_id = '${unpackInto.workspaceId}') as unpacking`,
      )
    )[0]!;

  for (const kind of ['csv', 'xlsx'] as const) await startAnswers(answered[kind], site.answers[kind]);
  const unpacking = unpack().catch(() => undefined);
  await moment(progress);
  const killedAt = await progress();
  await Promise.all([server.kill(), instance.killDatabase()]);
  const acknowledged = await unpacking;

  const next = await instance.start();
  // The same effect as an expired lease, which would take 25 s.
  await instance.query('update jobs set run_at = now() where lease_token is not null');
  await checkForm(site, unpackInto.workspaceId, acknowledged, unpack);
  for (const kind of ['csv', 'xlsx'] as const) await checkAnswers(site, answered[kind], kind);
  return { server: next, killedAt };
}

async function startAnswers(form: PublishedForm, body: object): Promise<void> {
  const begun = await form.call('POST', `/forms/${form.id}/submissions/imports`, body);
  assert.equal(begun.status, 202, JSON.stringify(begun.body));
}

/**
 * Asserts that the form exists once and complete, or not at all. An acknowledged form exists, and sending it
 * again creates no second one.
 */
async function checkForm(
  { instance }: ImportSite,
  workspaceId: string,
  acknowledged: Answer | undefined,
  unpack: (key?: string) => Promise<Answer>,
): Promise<void> {
  const found = async () =>
    instance.query<{ id: string; version: number; versions: number }>(
      `select f.id, f.version, (select count(*)::int from form_versions v where v.workspace_id = f.workspace_id and v.form_id = f.id) as versions
       from forms f where f.workspace_id = '${workspaceId}'`,
    );
  const isWhole = { version: versions, versions };
  const there = await found();
  assert.ok(there.length <= 1);
  if (acknowledged) assert.deepEqual([acknowledged.status, there[0]?.id], [201, acknowledged.body.id]);
  const again = await unpack();
  // The client does not know whether the cut-off request took effect. A retry under its key does not repeat
  // it.
  const isCutOff = acknowledged === undefined && again.status === 409;
  assert.ok(isCutOff || again.status === 201, `${again.status} ${JSON.stringify(again.body)}`);
  if (isCutOff && there.length === 0) assert.equal((await unpack(randomUUID())).status, 201);
  assert.deepEqual(
    (await found()).map(({ version, versions: rest }) => ({ version, versions: rest })),
    [isWhole],
  );
}

/**
 * Asserts that each row is one submission, counted and found once, without notifications. Importing the file
 * again creates no duplicates.
 */
async function checkAnswers(site: ImportSite, form: PublishedForm, kind: 'csv' | 'xlsx'): Promise<void> {
  const path = `/forms/${form.id}/submissions/imports`;
  const ended = () =>
    until(
      'the imports to end',
      async () => {
        const { data } = (await form.call('GET', path)).body as unknown as {
          data: { created: number; refused: number; total: number; finished_at: string | null }[];
        };
        return data.every(({ finished_at }) => finished_at !== null) && data;
      },
      90,
    );
  const report = ({ created, refused, total }: { created: number; refused: number; total: number }) => ({
    created,
    refused,
    total,
  });
  const once = { created: lines, refused: 0, total: lines };
  assert.deepEqual((await ended()).map(report), [once]);
  await startAnswers(form, site.answers[kind]);
  assert.deepEqual((await ended()).map(report), [{ created: 0, refused: lines, total: lines }, once]);
  const [there] = await site.instance.query(
    `select count(*)::int as rows, count(distinct answers->>'entry')::int as entries,
            (select count(*)::int from search_documents d where d.form_id = '${form.id}') as found,
            (select sum(count)::int from submission_counts c where c.form_id = '${form.id}') as counted,
            (select count(*)::int from events e where e.form_id = '${form.id}') as events,
            (select count(*)::int from task_items i join tasks t on t.workspace_id = i.workspace_id and t.id = i.task_id where t.form_id = '${form.id}') as waiting
     from submissions where form_id = '${form.id}'`,
  );
  const each = { rows: lines, entries: lines, found: lines, counted: lines };
  assert.deepEqual(there, { ...each, events: 0, waiting: 0 });
}
