import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { formatSubmissionReference } from '#ast/short-reference.ts';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { composite, element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { errorOf, field, focused, pressButton, stage, wake } from './page-script-stage.ts';

/*
 * The conventions P8 and P9 (the issue "the public form page") of the page with its script. Whatever happens,
 * there is one submission, and files are uploaded before the form is sent.
 */

const plain = await stage.publish([step('Only', [element('text', 'name', { required: true })])]);
const withFiles = await stage.publish([
  step('Files', [
    element('file_upload', 'photo', { accept: ['.txt', '.png'], required: true }),
    composite('team', [element('text', 'member'), element('file_upload', 'cv')], { repeatable: true }),
  ]),
  step('End', [element('text', 'note')]),
]);

const textFile = (name: string, content = 'x') => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
});
const heldNames = (page: Page): Promise<string[]> =>
  page.evaluate("[...document.querySelectorAll('.held li')].map(({ dataset }) => dataset.filename)");

test('P8: two presses make one submission, and the confirmation has the focus and the receipt', async () => {
  const page = await stage.visit(plain);
  await field(page, 'name').fill('Ada');
  await page.evaluate(`{
    const button = document.querySelector('.submit');
    button.click(); button.click();
  }`);
  await page.waitForURL(/\/submitted\?receipt=/);
  await until('the focus on the confirmation', async () => (await focused(page)) === 'Thank you');
  const [only, ...others] = await stage.submissions(plain);
  assert.equal(others.length, 0);
  assert.equal(await page.locator('.receipt code').innerText(), formatSubmissionReference(only!.id));
  assert.equal(await page.evaluate('sessionStorage.length'), 0, 'nothing of it stays in the window');
  assert.deepEqual(await findBarriers(page), []);
  await stage.browser.leave(page);
});

for (const how of ['with', 'without'] as const) {
  test(`${how} a script, going back after a submission shows no answers, for forms of one and several steps`, async () => {
    const steps = await stage.publish([
      step('One', [element('text', 'name'), element('radio', 'colour', { options: ['Red', 'Blue'] })]),
      step('Two', [element('textarea', 'note')]),
    ]);
    for (const form of [plain, steps]) {
      const page =
        how === 'with'
          ? await stage.visit(form)
          : await stage.browser.open(`/f/${form.id}`, undefined, { javaScriptEnabled: false });
      await field(page, 'name').fill('Ada Secret');
      if (form === steps) {
        await page.locator('[value=Red]').check();
        await pressButton(page, 'Next');
        await field(page, 'note').fill('Ada Secret');
      }
      await pressButton(page, 'Submit');
      await page.waitForURL(/\/submitted\?receipt=/);
      for (let back = 0; back < 3 && page.url() !== 'about:blank'; back += 1) {
        // A browser shows no posted page until the visitor posts it again (src/page/visits.test.ts).
        const isShown = await page.goBack().then(
          () => true,
          () => false,
        );
        if (!isShown) break;
        await page.waitForLoadState();
        const shown = await page
          .locator('input:not([type=hidden]), textarea')
          .evaluateAll((controls) =>
            (controls as unknown as { value: string; type: string; checked: boolean }[])
              .filter(({ type, value, checked }) =>
                type === 'radio' ? checked && value !== '' : value !== '',
              )
              .map(({ value }) => value),
          );
        assert.deepEqual(
          shown,
          [],
          `${form === steps ? 'two steps' : 'one step'}, back ${back + 1}: ${page.url()}`,
        );
      }
      // Going back may end on a page of the browser itself.
      if (how === 'with') await stage.browser.leave(page);
      else await page.context().close();
    }
  });
}

test('P8: without a network the answers stay, and sending again with one key creates one submission', async () => {
  const page = await stage.visit(plain);
  const before = (await stage.submissions(plain)).length;
  await field(page, 'name').fill('Grace');
  const keys: (string | null)[] = [];
  await page.route(`**/f/${plain.id}`, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    keys.push(new URLSearchParams(route.request().postData() ?? '').get('_key'));
    // The second time the answers arrive, and only the server's response is lost.
    if (keys.length === 2) await route.fetch();
    if (keys.length < 3) return route.abort();
    return route.continue();
  });
  await pressButton(page, 'Submit');
  const problem = page.getByRole('alert');
  await problem.getByText('Your answers couldn’t be sent').waitFor();
  await until('the focus on the problem', async () => (await focused(page)).startsWith('There is a problem'));
  assert.equal(await field(page, 'name').inputValue(), 'Grace');
  assert.deepEqual(await findBarriers(page), []);
  await pressButton(page, 'Send again');
  await until('a second try', async () => keys.length === 2);
  await until('the way to send again', async () => (await page.getByText('Sending…').count()) === 0);
  await pressButton(page, 'Send again');
  await page.waitForURL(/\/submitted\?receipt=/);
  assert.equal(new Set(keys).size, 1);
  assert.match(keys[0] ?? '', /^[0-9a-f-]{36}\./);
  assert.equal((await stage.submissions(plain)).length, before + 1);
  await stage.browser.leave(page);
});

test('P8: errors found only by the server look like those found by the page', async () => {
  const page = await stage.visit(plain);
  await field(page, 'name').fill('Joan');
  await page.route(`**/f/${plain.id}`, (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({
          status: 422,
          json: {
            error: 'validation_error',
            message: '',
            errors: [{ field: 'name', message: 'The name: no.' }],
          },
        })
      : route.continue(),
  );
  await pressButton(page, 'Submit');
  await page.getByRole('alert').getByRole('link', { name: 'The name: no.' }).click();
  await until(
    'the focus on the field',
    async () => (await page.evaluate('document.activeElement.id')) === 'name',
  );
  assert.equal(await errorOf(page, 'name').innerText(), 'The name: no.');
  await stage.browser.leave(page);
});

test('P9: a chosen file is uploaded immediately with progress and can be removed, and limits are shown before', async () => {
  const page = await stage.visit(withFiles);
  assert.match(await page.locator('[id="help~photo"]').innerText(), /10 MB[^]*TXT and PNG/);
  await field(page, 'photo').setInputFiles([textFile('one.txt'), textFile('two.txt')]);
  await until('both files', async () => (await page.locator('.held [type=hidden]').count()) === 2);
  assert.deepEqual(await heldNames(page), ['one.txt', 'two.txt']);
  await page.locator('[aria-live=polite]').getByText('has been uploaded').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await pressButton(page, 'Remove one.txt');
  assert.deepEqual(await heldNames(page), ['two.txt']);
  await until(
    'the focus on the field',
    async () => (await page.evaluate('document.activeElement.id')) === 'photo',
  );

  await field(page, 'photo').setInputFiles(textFile('evil.exe'));
  await page.getByRole('alert').getByText('evil.exe').waitFor();
  assert.deepEqual(await heldNames(page), ['two.txt'], 'a refused file is not added');

  await pressButton(page, 'Add another The team');
  await field(page, 'team[1][member]').fill('Joan');
  await field(page, 'team[1][cv]').setInputFiles(textFile('cv.txt', 'about Joan'));
  await until(
    'the file of the row',
    async () => (await page.locator('[name="_file[team[1][cv]]"]').count()) === 1,
  );
  await pressButton(page, 'Remove The team 1');
  await page.locator('[name="_file[team[0][cv]]"]').waitFor({ state: 'attached' });

  await page.reload();
  await until(
    'the files after a reload',
    async () => (await page.locator('.held [type=hidden]').count()) === 2,
  );
  await pressButton(page, 'Next');
  await page.getByRole('heading', { name: 'End' }).waitFor();
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?receipt=/);
  const [newest] = await stage.submissions(withFiles);
  const answers = newest?.answers as {
    photo: { filename: string }[];
    team: { member: string; cv: { filename: string; size: number }[] }[];
  };
  assert.deepEqual(
    answers.photo.map(({ filename }) => filename),
    ['two.txt'],
  );
  assert.deepEqual(
    answers.team.map(({ member, cv }) => [member, cv[0]?.filename, cv[0]?.size]),
    [['Joan', 'cv.txt', 10]],
  );
  await stage.browser.leave(page);
});

test('P9: Next waits for an upload, which can be canceled, and a failed upload can be retried', async () => {
  const page = await stage.visit(withFiles);
  let mode: 'hold' | 'fail' | 'pass' = 'hold';
  await page.route('**/files', async (route) => {
    if (mode === 'fail') return route.abort();
    if (mode === 'pass') return route.continue();
  });
  await field(page, 'photo').setInputFiles(textFile('slow.txt'));
  await page.getByRole('progressbar', { name: 'slow.txt' }).waitFor();
  await pressButton(page, 'Next');
  await page.getByRole('alert').getByText('still uploading').waitFor();
  await pressButton(page, 'Cancel slow.txt');
  assert.deepEqual(await heldNames(page), []);

  mode = 'fail';
  await field(page, 'photo').setInputFiles(textFile('lost.txt'));
  await page.getByText('lost.txt couldn’t be uploaded.').waitFor();
  assert.deepEqual(await page.locator('.held :is(bdi, .error)').allInnerTexts(), [
    'lost.txt couldn’t be uploaded.',
  ]);
  assert.deepEqual(await findBarriers(page), []);
  mode = 'pass';
  await pressButton(page, 'Try again lost.txt');
  await page.locator('.held [type=hidden]').waitFor({ state: 'attached' });
  assert.deepEqual(await heldNames(page), ['lost.txt']);
  await stage.browser.leave(page);
});

test('P9: a failed file stays listed with its reason, and blocks Next until it is removed or retried', async () => {
  const form = await stage.publish(
    [step('Files', [element('file_upload', 'photo')]), step('End', [element('text', 'note')])],
    { save_progress: true },
  );
  const page = await stage.visit(form);
  await page.route('**/files', (route) => route.abort());
  await field(page, 'photo').setInputFiles(textFile('lost.txt'));
  await page.getByText('lost.txt couldn’t be uploaded.').waitFor();
  await page.unroute('**/files');
  for (const button of ['Next', 'Save and continue later']) {
    await pressButton(page, button);
    await page
      .getByRole('alert')
      .getByRole('link', { name: /couldn’t be uploaded/ })
      .waitFor();
    assert.deepEqual(await heldNames(page), ['lost.txt']);
  }
  assert.deepEqual(await findBarriers(page), []);

  await field(page, 'photo').setInputFiles(textFile('small.txt'));
  await page.locator('.held [type=hidden]').waitFor({ state: 'attached' });
  await page.getByText('lost.txt couldn’t be uploaded.').waitFor();
  await page.reload();
  await until('both after a reload', async () => (await heldNames(page)).length === 2);
  await pressButton(page, 'Next');
  await page
    .getByRole('alert')
    .getByRole('link', { name: /couldn’t be uploaded/ })
    .waitFor();
  await pressButton(page, 'Remove lost.txt');
  await pressButton(page, 'Next');
  await page.getByRole('heading', { name: 'End' }).waitFor();
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?receipt=/);
  const answers = (await stage.submissions(form))[0]?.answers as { photo: { filename: string }[] };
  assert.deepEqual(
    answers.photo.map(({ filename }) => filename),
    ['small.txt'],
  );

  // Only the server knows this: the form was closed in the meantime.
  await page.goto(`${stage.service.url}/f/${form.id}`);
  await wake(page);
  await stage.tenant.call('PATCH', `/forms/${form.id}`, { settings: { closes_at: '2020-01-01T00:00:00Z' } });
  await field(page, 'photo').setInputFiles(textFile('late.txt'));
  await page.locator('.held li', { hasText: 'late.txt' }).getByRole('alert').waitFor();
  await stage.browser.leave(page);
});

test('P9: files are sent with the form if the upload script does not load', async () => {
  const visited = await stage.visit(plain);
  const page = await visited.context().newPage();
  await page.route('**/f/assets/uploads-*', (route) => route.abort());
  await page.goto(`${stage.service.url}/f/${withFiles.id}`);
  await wake(page);
  await field(page, 'photo').setInputFiles(textFile('plain.txt'));
  await pressButton(page, 'Next');
  await page.getByRole('heading', { name: 'End' }).waitFor();
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?receipt=/);
  const answers = (await stage.submissions(withFiles))[0]?.answers as { photo: { filename: string }[] };
  assert.equal(answers.photo[0]?.filename, 'plain.txt');
  await page.close();
  await stage.browser.leave(visited);
});

test('P9: files can be dropped and pasted, and a drop outside the field loses nothing', async () => {
  const page = await stage.visit(withFiles);
  const give = (event: 'drop' | 'paste', selector: string, name: string): Promise<void> =>
    page.evaluate(`{
      const transfer = new DataTransfer();
      transfer.items.add(new File(['x'], ${JSON.stringify(name)}, { type: 'text/plain' }));
      const options = { bubbles: true, cancelable: true, dataTransfer: transfer, clipboardData: transfer };
      const Kind = { drop: DragEvent, paste: ClipboardEvent }['${event}'];
      const event = new Kind('${event}', options);
      document.querySelector('${selector}').dispatchEvent(event);
      window.wasStopped = event.defaultPrevented;
    }`);
  // The upload script loads automatically. Until then the browser handles files.
  await until('files to be taken', async () => {
    await give('drop', '#photo', 'dropped.txt');
    return page.evaluate<boolean>('window.wasStopped');
  });
  await give('paste', '#photo', 'pasted.txt');
  await until('both files', async () => (await page.locator('.held [type=hidden]').count()) === 2);
  await give('drop', 'h1', 'beside.txt');
  assert.equal(await page.evaluate('window.wasStopped'), true);
  assert.deepEqual((await heldNames(page)).toSorted(), ['dropped.txt', 'pasted.txt']);
  await stage.browser.leave(page);
});

test('P9: a second file can be dropped beside an uploaded one, and a pasted table becomes text in a text field', {
  skip: isSlice,
}, async () => {
  const form = await stage.publish([
    step('Only', [element('text', 'note'), element('file_upload', 'photo', { accept: ['.txt'] })]),
  ]);
  const page = await stage.visit(form);
  await field(page, 'photo').setInputFiles(textFile('first.txt'));
  await page.locator('.held [type=hidden]').waitFor({ state: 'attached' });
  const give = (event: 'drop' | 'paste', id: string): Promise<boolean> =>
    page.evaluate(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['x'], 'second.txt', { type: 'text/plain' }));
      const options = { bubbles: true, cancelable: true, dataTransfer: transfer, clipboardData: transfer };
      const event = new ({ drop: DragEvent, paste: ClipboardEvent }['${event}'])('${event}', options);
      document.getElementById('${id}').dispatchEvent(event);
      return event.defaultPrevented;
    })()`);
  assert.equal(await give('paste', 'note'), false);
  await give('drop', 'photo');
  await until('both files', async () => (await page.locator('.held [type=hidden]').count()) === 2);
  await stage.browser.leave(page);
});

test('P9: Save waits for an upload', async () => {
  const form = await stage.publish([step('Only', [element('file_upload', 'photo')])], {
    save_progress: true,
  });
  const page = await stage.visit(form);
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  await page.route('**/files', async (route) => {
    await held;
    await route.continue();
  });
  await field(page, 'photo').setInputFiles(textFile('slow.txt'));
  await page.locator('.held progress').waitFor();
  await pressButton(page, 'Save and continue later');
  await page.getByRole('alert').getByText('Files are still uploading').waitFor();
  goOn();
  await page.locator('.held [type=hidden]').waitFor({ state: 'attached' });
  await pressButton(page, 'Save and continue later');
  await page.getByRole('heading', { name: 'Saved' }).waitFor();
  await stage.browser.leave(page);
});

test('question IDs can equal property names of the browser’s form element', { skip: isSlice }, async () => {
  const names = ['action', 'submit', 'append', 'after', 'contains', 'method', 'elements'];
  const questions = names.map((name) => element('text', name));
  const form = await stage.publish([step('Only', questions)], { proof_of_work: true });
  const page = await stage.visit(form);
  for (const name of names) await field(page, name).fill(`my ${name}`);
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?receipt=/);
  const [only] = await stage.submissions(form);
  assert.deepEqual(only?.answers, Object.fromEntries(names.map((name) => [name, `my ${name}`])));
  await stage.browser.leave(page);
});

test('an added row is blank, and a file is removed from the current position of its row', async () => {
  const form = await stage.publish([
    step('Only', [
      composite(
        'team',
        [
          element('text', 'member'),
          element('yes_no', 'veg', { required: true }),
          element('file_upload', 'cv'),
        ],
        { repeatable: true },
      ),
    ]),
  ]);
  const page = await stage.visit(form);
  await field(page, 'team[0][member]').fill('Ada');
  await pressButton(page, 'Submit');
  await page.getByRole('alert').waitFor();
  await page.locator('[name=_add]').click();
  const second = field(page, 'team[1]');
  assert.equal(await second.locator('[aria-invalid], .invalid').count(), 0);
  await field(page, 'team[1][cv]').setInputFiles(textFile('a.txt'));
  await second.locator('.held [type=hidden]').waitFor({ state: 'attached' });
  await page.locator('[name=_remove][value="team[0]"]').click();
  await field(page, 'team[0]').getByRole('button', { name: 'Remove a.txt' }).click();
  assert.equal(await page.evaluate('document.activeElement.id'), 'team[0][cv]');
  await stage.browser.leave(page);
});
