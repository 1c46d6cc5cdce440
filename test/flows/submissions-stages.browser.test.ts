import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSlice } from '#test/cases.ts';
import { signIn } from '../console.ts';
import { holdToast } from '../console-browser.ts';
import { type Body, until } from '../service.ts';
import {
  audit,
  leave,
  makeForm,
  person,
  rowNames,
  service,
  show,
  submit,
  tenant,
} from './submissions-stage.ts';

/* The stage and the assignee of submissions in the table, the panel, the filter and the settings. */

const assignmentOf = async (id: string) => {
  const { body } = await tenant.call('GET', `/submissions/${id}`);
  const { stage_id = 'new', assignee_id = null } = body as Body & { stage_id?: string; assignee_id?: string };
  return [stage_id, assignee_id];
};

test('the panel moves a submission to a stage and assigns it, by keyboard, and undoes each', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' });
  const page = await show(`/forms/${form}/submissions?open=${id}`);
  const panel = page.getByRole('complementary', { name: 'Submission' });
  const stage = panel.getByRole('button', { name: 'Stage' });
  await stage.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'In progress' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const toast = await holdToast(page, 'Saved.');
  assert.deepEqual(await assignmentOf(id), ['in_progress', null]);
  await audit(page, 'the panel');
  await toast.getByRole('button', { name: 'Undo' }).click();
  await until('the undo', async () => (await assignmentOf(id))[0] === 'new');
  // Letters choose in the field; they do not open another submission.
  await panel.getByRole('button', { name: 'Assignee' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: '(you)' }).click();
  await until('the assignment', async () => (await assignmentOf(id))[1] === person.userId);
  await panel.getByText(/^Assignee: /).waitFor();
  await leave(page);
});

test('the table shows, filters and sorts by stage and assignee, and changes many at once', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const ids: string[] = [];
  for (const name of ['Ada', 'Ben', 'Cy']) ids.push(await submit(form, { name }));
  await tenant.call('PATCH', `/submissions/${ids[0]}`, { stage_id: 'done' });
  const page = await show(`/forms/${form}/submissions`);
  await page.getByRole('button', { name: 'Columns', exact: true }).click();
  const columns = page.getByRole('dialog', { name: 'Columns' });
  for (const name of ['Stage', 'Assignee']) await columns.getByText(name, { exact: true }).click();
  await columns.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('columnheader', { name: 'Assignee' }).waitFor();
  await page.locator('.sheet-row').first().getByText('New').waitFor();
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByRole('menuitem', { name: 'Stage' }).click();
  await page.getByRole('group', { name: 'New filter' }).getByText('Done', { exact: true }).click();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'Edit filter: Stage is any of Done' }).waitFor();
  await until('one row', async () => (await rowNames(page)).join() === 'Ada');
  await page.getByRole('button', { name: 'Remove filter: Stage is any of Done' }).click();
  await until('all rows', async () => (await rowNames(page)).length === 3);

  await page.locator('label:has(input[aria-label="Select all submissions on this page"])').click();
  const bar = page.getByRole('region', { name: 'Selection' });
  await bar.getByRole('button', { name: 'Assign' }).click();
  await page.getByRole('menuitem', { name: '(you)' }).click();
  await holdToast(page, '3 submissions were updated.');
  assert.deepEqual(
    await Promise.all(ids.map(async (id) => (await assignmentOf(id))[1])),
    Array(3).fill(person.userId),
  );
  await page.locator('.sheet-row label').first().click();
  await bar.getByRole('button', { name: 'Status' }).click();
  await page.getByRole('menuitem', { name: 'In progress' }).click();
  const toast = await holdToast(page, '1 submission was moved.');
  await toast.getByRole('button', { name: 'Undo' }).click();
  await until('the undo', async () => (await assignmentOf(ids[2]!))[0] === 'new');
  // A toast under the pointer stays.
  await page.mouse.move(5, 5);
  await leave(page);
});

test('an admin renames, adds and deletes stages in the settings; others see them', async () => {
  const { workspaceId } = tenant;
  const admin = await signIn(service, { workspaceId, role: 'admin' });
  const page = await show(`/w/${workspaceId}/settings/general`, { who: admin });
  await page.getByRole('textbox', { name: 'Name of stage 2' }).fill('Waiting');
  await page.getByRole('button', { name: 'Add stage' }).click();
  await page.keyboard.type('Waiting');
  await page.getByRole('button', { name: 'Save stages' }).click();
  await page.getByText('Another stage has this name.').waitFor();
  await page.getByRole('textbox', { name: 'Name of stage 4' }).fill('Archived');
  await page.getByRole('button', { name: 'Color of Archived' }).click();
  await page.getByRole('option', { name: 'Red' }).click();
  await audit(page, 'the stages');
  await page.getByRole('button', { name: 'Move Archived up' }).click();
  const save = page.getByRole('button', { name: 'Save stages' });
  await save.press('Enter');
  await holdToast(page, 'The stages were saved.');
  await page.locator('button:focus', { hasText: 'Save stages' }).waitFor();
  const listed = async () => (await tenant.call('GET', '/stages')).body.data.map(({ name }) => name);
  assert.deepEqual(await listed(), ['New', 'Waiting', 'Archived', 'Done']);
  await page.getByRole('button', { name: 'Delete Archived' }).click();
  await page.getByText('Submissions in a deleted stage go to the first stage.').waitFor();
  await page.getByRole('button', { name: 'Move Waiting up' }).click();
  await page.getByText('Submissions that were never moved go to the new first stage.').waitFor();
  await page.getByRole('button', { name: 'Move Waiting down' }).click();
  // Another person's change is not overwritten without a warning, and the edit is kept.
  const headers = { Authorization: `Bearer ${await tenant.makeFullKey()}` };
  const { data } = (await tenant.call('GET', '/stages')).body;
  const renamed = data.map((stage) => ({ ...stage, name: stage.name === 'Done' ? 'Closed' : stage.name }));
  assert.equal((await tenant.call('PUT', '/stages', { data: renamed }, headers)).status, 200);
  await save.click();
  await page
    .getByText(/^Not saved: /)
    .first()
    .waitFor();
  assert.deepEqual(await listed(), ['New', 'Waiting', 'Archived', 'Closed']);
  await save.click();
  await until('the deletion', async () => (await listed()).join() === 'New,Waiting,Done');
  await leave(page);

  const other = await show(`/w/${workspaceId}/settings/general`);
  await other.getByText('Waiting').waitFor();
  assert.equal(await other.getByRole('button', { name: 'Save stages' }).count(), 0);
  await leave(other);
});
