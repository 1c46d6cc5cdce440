import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '#test/browser.ts';
import { isSlice } from '#test/cases.ts';
import { publishForm } from '#test/crowd.ts';
import { filenameOf, openPaper } from '#test/paper.ts';
import { makeInstance } from '#test/process.ts';
import type { Body } from '#test/service.ts';
import { element, stepsOf } from '../ast/forms.ts';

/*
 * A visitor's answers survive a kill -9 of the server between filling in and sending, and a new form version.
 */

const instance = await makeInstance();
let server = await instance.start();
const owner = await publishForm(instance);
const browser = await openBrowser();
after(() => browser.close());

const structure = stepsOf(
  { title: 'You' },
  [element('text', 'name', { required: true }), element('file_upload', 'cv')],
  { title: 'Trip' },
  [element('textarea', 'wishes')],
  { title: 'End' },
  [element('yes_no', 'sure')],
);

async function publish(settings: object = {}): Promise<string> {
  const { status, body } = await owner.call('POST', '/forms', { structure, publish: true, settings });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

/** Kills the server without warning, like a crash. */
const crash = (): Promise<void> => server.kill();
async function startAgain(): Promise<void> {
  server = await instance.start();
}

async function onlySubmission(form: string): Promise<Body> {
  const { body } = await owner.call('GET', `/forms/${form}/submissions`);
  assert.equal(body.data.length, 1);
  return body.data[0]!;
}

const press = (page: Page, go: string): Promise<void> => page.locator(`.actions [value=${go}]`).click();
const step = (page: Page, title: string): Promise<void> =>
  page.getByRole('heading', { name: title, exact: true }).waitFor();

test('with script, a crash costs only a press of "Send again", and a reload restores every answer', async () => {
  const form = await publish();
  const page = await browser.newPage();
  await page.goto(`${instance.url}/f/${form}`);
  await page.locator('#name').fill('Ada');
  await page
    .locator('#cv')
    .setInputFiles({ name: 'cv.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
  await page.getByRole('button', { name: 'Remove cv.txt' }).waitFor();
  await press(page, 'next');
  await step(page, 'Trip');
  await page.locator('#wishes').fill('A window');

  await crash();
  await press(page, 'next');
  await step(page, 'End');
  await page.getByRole('radio', { name: 'Yes' }).check();
  await press(page, 'submit');
  await page.getByRole('alert').getByText('They’re kept on this page').waitFor();

  await startAgain();
  await page.reload();
  await step(page, 'End');
  assert.equal(await page.locator('#wishes').inputValue(), 'A window');
  await press(page, 'submit');
  await page.locator('.receipt').waitFor();
  const { answers } = await onlySubmission(form);
  assert.deepEqual(
    [answers.name, filenameOf(answers.cv), answers.wishes, answers.sure],
    ['Ada', 'cv.txt', 'A window', true],
  );
  await page.close();
});

test('without script, a different server can answer each step', {
  skip: isSlice,
}, async () => {
  const form = await publish({ save_progress: true });
  let paper = await openPaper(instance, `/f/${form}`);
  const restart = async (): Promise<void> => {
    await crash();
    await startAgain();
  };
  await restart();
  paper = await paper.press('next', { name: 'Ada', cv: [new File(['x'], 'cv.txt')] });
  assert.deepEqual(paper.headings, ['Trip']);
  const saved = await paper.press('save', { wishes: 'A window' });
  const link = saved.tags.find(({ tag, text }) => tag === 'a' && text.includes('/resume/'))!.attrs['href']!;
  await restart();
  paper = await openPaper(instance, new URL(link).pathname);
  assert.deepEqual([paper.headings, paper.values('wishes')], [['Trip'], ['A window']]);
  paper = await paper.press('next');
  const sent = await paper.press('submit', { sure: 'yes' });
  assert.equal(sent.status, 303, sent.problems.join());
  const { answers } = await onlySubmission(form);
  assert.deepEqual([answers.name, filenameOf(answers.cv), answers.wishes], ['Ada', 'cv.txt', 'A window']);
});

test('a page that is older than its form keeps every answer and asks only the new questions', async () => {
  const form = await publish();
  const page = await browser.newPage();
  await page.goto(`${instance.url}/f/${form}`);
  const paper = await openPaper(instance, `/f/${form}`);
  const changed = stepsOf(
    { title: 'You' },
    [
      element('text', 'name', { required: true }),
      element('file_upload', 'cv'),
      element('email', 'mail', { required: true }),
    ],
    { title: 'Trip' },
    [element('textarea', 'wishes')],
    { title: 'End' },
    [element('yes_no', 'sure')],
  );
  assert.equal((await owner.call('PUT', `/forms/${form}`, { structure: changed })).status, 200);

  const again = await paper.press('next', { name: 'Ada' });
  assert.deepEqual([again.status, again.values('name')], [422, ['Ada']]);
  assert.deepEqual(again.problems, ['The mail: Enter an email address']);

  await page.locator('#name').fill('Eve');
  await press(page, 'next');
  await step(page, 'Trip');
  await press(page, 'next');
  await step(page, 'End');
  await press(page, 'submit');
  await page.getByRole('alert').getByText('The mail: Enter an email address').waitFor();
  assert.equal(await page.locator('#name').inputValue(), 'Eve', 'nothing is lost');
  await page.locator('#mail').fill('eve@example.org');
  await press(page, 'next');
  await step(page, 'Trip');
  await press(page, 'next');
  await step(page, 'End');
  await press(page, 'submit');
  await page.locator('.receipt').waitFor();
  assert.deepEqual((await onlySubmission(form)).answers, { name: 'Eve', mail: 'eve@example.org' });
  await page.close();
});
