import { createForm } from '#forms/forms.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import type { Instance } from '#test/process.ts';
import { callApi } from '#test/service.ts';
import { makeSubmissions, seed, type SeededSubmission, structure } from './seed.ts';

/** What the cases are about: a workspace with its key, and the form that has most of the submissions. */
export type Site = {
  workspaceId: string;
  formId: string;
  key: string;
  structure: object;
  submissions: readonly SeededSubmission[];
};

/** Forms without submissions. With a handful the planner would read the whole table, and go on doing so as it grows. */
const emptyForms = 1_000;

/** A workspace, its form with all submissions, four forms beside it with a few, and many without any. */
export async function prepareSite(instance: Instance, count: number): Promise<Site> {
  const workspace = await instance.cli<{ id: string }>(
    'workspace create',
    'Bench',
    '--plan',
    'enterprise',
    '--rate-limit',
    '1000000',
    '--burst',
    '1000000',
  );
  const { key } = await instance.cli<{ key: string }>(
    'key create',
    '--workspace',
    workspace.id,
    '--name',
    'Bench',
  );
  const publishForm = async (): Promise<string> =>
    (await callApi(instance.url, key, 'POST', '/forms', { structure, publish: true })).body.id;
  const formId = await publishForm();
  const submissions = makeSubmissions(count);
  const database = openDatabase(
    { connectionString: instance.databaseUrl },
    { pool: 2, log: openLog('silent'), limits: false },
  );
  const place = { workspaceId: workspace.id };
  await seed(database, { ...place, formId }, submissions);
  for (const other of [2, 3, 4, 5])
    await seed(database, { ...place, formId: await publishForm() }, makeSubmissions(1_000, other));
  for (let number = 0; number < emptyForms; number += 1)
    await createForm(database, workspace.id, { structure });
  await database.query('vacuum (analyze)');
  await database.query('checkpoint');
  await database.end();
  return { ...place, formId, key, structure, submissions };
}
