import assert from 'node:assert/strict';
import { addToSubmissionCount } from '#submissions/submission-rows.ts';
import { element } from './ast/forms.ts';
import type { Body, Tenant, TestService } from './service.ts';
import { insertMany } from './submissions/scene.ts';
import { makeForm, openVisitor } from './visitor.ts';

/** Reads a list to its end by cursor. `between` runs before each page except the first. */
export async function readAll(
  tenant: Tenant,
  path: string,
  between: (page: Body) => Promise<unknown> = async () => undefined,
): Promise<{ ids: string[]; pages: Body[] }> {
  const pages: Body[] = [];
  for (let cursor: string | null = '*'; cursor !== null; ) {
    if (pages.length > 0) await between(pages.at(-1)!);
    const { status, body } = await tenant.call(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`,
    );
    assert.equal(status, 200, JSON.stringify(body));
    pages.push(body);
    cursor = body.next_cursor!;
  }
  return { ids: pages.flatMap(({ data }) => data.map(({ id }) => id)), pages };
}

/**
 * Reads this many submissions of a form by cursor while others submit and delete. Asserts that each
 * submission present from start to end is read once, and none twice.
 */
export async function readWhileOthersWrite(service: TestService, count: number): Promise<void> {
  const { database } = service.services;
  const tenant = await service.makeTenant({ rateLimit: 1_000_000 });
  const form = await makeForm(tenant, [element('text', 'a')]);
  const key = { workspace_id: tenant.workspaceId, form_id: form.id };
  const since = new Date(Date.now() - count - 60_000);
  await insertMany(database, {
    workspaceId: tenant.workspaceId,
    formId: form.id,
    version: 1,
    answers: { a: 'word' },
    since,
    count,
  });
  await addToSubmissionCount(database, { ...key, status: 'incomplete', change: count });
  const idsOf = async (): Promise<string[]> =>
    (
      await database.query<{ id: string }>('select id from submissions where form_id = $1 order by id desc', [
        form.id,
      ])
    ).rows.map(({ id }) => id);
  const before = await idsOf();
  assert.equal(before.length, count);

  const visitor = openVisitor(service);
  let submitted = 0;
  const submit = async (): Promise<void> => {
    assert.equal((await visitor.submit(form.id, { a: 'meanwhile' })).status, 201);
    submitted += 1;
  };
  const { ids, pages } = await readAll(tenant, `/forms/${form.id}/submissions?per_page=100`, async (page) => {
    await submit();
    // Deletes a submission that was read. With page offsets this would shift all others.
    await database.query('delete from submissions where id = $1', [page.data[7]!.id]);
  });
  assert.equal(new Set(ids).size, ids.length, 'none twice');
  assert.deepEqual(ids, before, 'none left out, newest first');
  assert.equal(submitted, pages.length - 1);
  assert.deepEqual(
    [pages[0]!.pagination.total_count, pages.at(-1)!.pagination],
    [count, { page: count / 100, per_page: 100, total_count: count, total_pages: count / 100 }],
  );
}
