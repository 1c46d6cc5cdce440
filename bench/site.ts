import { createForm } from '#forms/forms.ts';
import { type Database, openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import type { Instance } from '#test/process.ts';
import { formIndexOf, type SeededSubmission, seed, structure, submissionAt } from './seed.ts';

/** A workspace that the cases use, with its key and forms. The first form has half of the submissions. */
export type Site = {
  workspaceId: string;
  key: string;
  formId: string;
  /** One of the forms that share the other half of the submissions. */
  otherFormId: string;
  structure: object;
  /** The number of submissions in the workspace. */
  count: number;
  /** The submissions of the first form are at even positions. */
  submissionAt(index: number): SeededSubmission;
};

/**
 * Forms with submissions, and forms without. With only a few forms the planner would scan the whole table,
 * and keep that plan.
 */
const forms = 50;
const emptyForms = 1_000;

/**
 * Prepares a workspace for each number of submissions in one database, the smallest first. Reuses the data of
 * an earlier run.
 */
export async function prepareSites(instance: Instance, counts: readonly number[]): Promise<Site[]> {
  const database = openDatabase(
    { connectionString: instance.databaseUrl },
    { pool: 2, log: openLog('silent'), limits: false },
  );
  const sites: Site[] = [];
  for (const [index, count] of counts.entries())
    sites.push(await prepareSite(instance, database, { count, site: index + 1 }));
  await database.query('vacuum (analyze)');
  await database.query('checkpoint');
  await database.end();
  return sites;
}

async function prepareSite(
  instance: Instance,
  database: Database,
  { count, site }: { count: number; site: number },
): Promise<Site> {
  const name = `Bench ${count}`;
  const workspaceId = (await findWorkspace(database, name)) ?? (await makeWorkspace(instance, name));
  const { key } = await instance.cli<{ key: string }>(
    'key create',
    '--workspace',
    workspaceId,
    '--name',
    name,
  );
  const formIds = await findForms(database, workspaceId);
  if (formIds.length === 0) {
    for (let number = 0; number < forms + emptyForms; number += 1) {
      const { id } = await createForm(database, workspaceId, {
        structure,
        ...(number < forms && { status: 'published' }),
      });
      if (number < forms) formIds.push(id);
    }
    await seed(database, { workspaceId, formIds, site, count });
  }
  return {
    workspaceId,
    key,
    formId: formIds[0]!,
    otherFormId: formIds[formIndexOf(1, forms)]!,
    structure,
    count,
    submissionAt: (index) => submissionAt(index, { site, count }),
  };
}

const makeWorkspace = async (instance: Instance, name: string): Promise<string> =>
  (
    await instance.cli<{ id: string }>(
      'workspace create',
      name,
      '--plan',
      'enterprise',
      '--rate-limit',
      '1000000',
      '--burst',
      '1000000',
    )
  ).id;

async function findWorkspace(database: Database, name: string): Promise<string | undefined> {
  const { rows } = await database.query<{ id: string }>('select id from workspaces where name = $1', [name]);
  return rows[0]?.id;
}

/** Returns the seeded forms: the published ones, oldest first. */
async function findForms(database: Database, workspaceId: string): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    "select id from forms where workspace_id = $1 and status = 'published' and deleted_at is null order by id limit $2",
    [workspaceId, forms],
  );
  return rows.map(({ id }) => id);
}
