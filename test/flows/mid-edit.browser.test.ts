import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openBrowser } from '#test/browser.ts';
import { stillness } from '#test/console-browser.ts';
import { publishForm, submitEntry } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';

/* The service is killed and restarted while people edit: nothing is lost, and they see a message. */

const instance = await makeInstance();
const server = await instance.start();
const form = await publishForm(instance);
await submitEntry(form.publicUrl, 'As it came');
const [found] = await instance.query<{ workspace_id: string }>(
  `select workspace_id from form_lookup where form_id = '${form.id}'`,
);
const password = 'a long test password';
await instance.cli(
  'user create',
  '--email=ada@example.org',
  `--password=${password}`,
  `--workspace=${found!.workspace_id}`,
  '--role=editor',
);
const browser = await openBrowser();
after(() => browser.close());
const context = await browser.newContext({
  viewport: { width: 1280, height: 800 },
  locale: 'en-US',
  ...stillness,
});

test('the service is killed during an edit of a form in one window and of a submission in another', async (t) => {
  const builder = await context.newPage();
  await builder.goto(`${instance.url}/app/sign-in`);
  await builder.getByLabel('Email address').fill('ada@example.org');
  await builder.getByLabel('Password').fill(password);
  await builder.keyboard.press('Enter');
  await builder.getByRole('heading', { level: 1, name: 'Forms' }).waitFor();
  await builder.evaluate(`history.pushState(null, '', '/app/forms/${form.id}')`);
  await builder.locator('.canvas-body [aria-label^="“Entry”"]').click();
  const table = await context.newPage();
  await table.goto(`${instance.url}/app/forms/${form.id}/submissions`);
  await table.locator('.sheet-link').first().click();
  await table.getByRole('button', { name: 'Edit answers' }).click();
  const entry = table.getByLabel('Entry (required)');
  await entry.fill('As it was mended');
  await server.kill();

  await t.test(
    'edits in the builder are kept while the service is unavailable, and a message says so',
    async () => {
      await builder.getByRole('textbox', { name: 'Label' }).fill('Written while it was away');
      await builder.getByText('Offline, saved in this browser').first().waitFor();
    },
  );

  await t.test('saving a submission reports that the service is unavailable and keeps the text', async () => {
    await table.getByRole('button', { name: 'Save answers' }).click();
    await table.getByText('The service cannot be reached.').first().waitFor();
    assert.equal(await entry.inputValue(), 'As it was mended');
  });

  await instance.start();

  await t.test('the edits in the builder are saved after the service is back', async () => {
    await builder.locator('[data-save-state="saved"]', { hasText: 'Saved' }).waitFor();
    await until('the working copy to hold it', async () => {
      const [draft] = await instance.query<{ structure: object }>(
        `select structure from form_drafts where form_id = '${form.id}'`,
      );
      return JSON.stringify(draft?.structure ?? {}).includes('Written while it was away');
    });
  });

  await t.test('pressing Save again saves the submission', async () => {
    await table.getByRole('button', { name: 'Save answers' }).click();
    await table.getByRole('region', { name: 'Answers' }).getByText('As it was mended').waitFor();
    const { idsByAnswer } = await form.listAll();
    assert.deepEqual([...idsByAnswer.keys()], ['As it was mended']);
  });
  await context.close();
});
