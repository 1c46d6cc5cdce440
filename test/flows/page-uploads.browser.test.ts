import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { field, focused, pressButton, stage, wake } from './page-script-stage.ts';

/* Uploads with a script: refused files, replacing, offline, thumbnails and the camera of a phone. */

const textFile = (name: string, content = 'x') => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
});
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/p3Zc0QAAAABJRU5ErkJggg==',
  'base64',
);
const heldNames = (page: Page): Promise<string[]> =>
  page.evaluate("[...document.querySelectorAll('.held li')].map(({ dataset }) => dataset.filename)");
const answersOf = async (form: Parameters<typeof stage.submissions>[0]) =>
  (await stage.submissions(form))[0]?.answers as Record<string, { filename: string }[]>;
const namesIn = (files: { filename: string }[] | undefined) => files?.map(({ filename }) => filename);

const form = await stage.publish([
  step('Only', [
    element('file_upload', 'cv', { max_files: 1, accept: ['.txt'] }),
    element('file_upload', 'photo', { max_file_size: 10, max_files: 2 }),
  ]),
]);

test('a refused file is never added: its reason is announced, fades, and blocks nothing', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form);
  const photo = field(page, 'photo');
  await photo.setInputFiles([textFile('big.txt', 'x'.repeat(11)), textFile('small.txt')]);
  await page.getByRole('alert').getByText('“big.txt” is larger than 1 kB').waitFor();
  await page.locator('[name="_file[photo]"]').waitFor({ state: 'attached' });
  assert.deepEqual(await heldNames(page), ['small.txt']);
  assert.deepEqual(await findBarriers(page), []);

  await photo.setInputFiles([textFile('two.txt'), textFile('three.txt'), textFile('four.txt')]);
  await page.getByRole('alert').getByText('Add at most 2 files').waitFor();
  assert.equal(await page.locator('.refused').count(), 1, 'one message for one reason, in place of the last');
  await until('the second', async () => (await page.locator('[name="_file[photo]"]').count()) === 2);

  await field(page, 'cv').setInputFiles(textFile('evil.exe'));
  await page.getByRole('alert').getByText('evil.exe').waitFor();
  await page.evaluate('document.getAnimations().forEach((animation) => animation.finish())');
  await until('no message', async () => (await page.locator('.refused').count()) === 0);
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?receipt=/);
  const answers = await answersOf(form);
  assert.deepEqual(namesIn(answers['photo']), ['small.txt', 'two.txt']);
  assert.equal(answers['cv'], undefined);
  await stage.browser.leave(page);
});

test('a file that only the server can refuse is not added either', { skip: isSlice }, async () => {
  const page = await stage.visit(form);
  await page.route('**/files', (route) =>
    route.fulfill({ status: 422, json: { errors: [{ field: 'cv', message: 'No room for more files.' }] } }),
  );
  await field(page, 'cv').setInputFiles(textFile('one.txt'));
  await page.getByRole('alert').getByText('No room for more files.').waitFor();
  assert.deepEqual(await heldNames(page), []);
  await stage.browser.leave(page);
});

test('in a field for one file, a second file replaces the first once it is uploaded', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form);
  const cv = field(page, 'cv');
  await cv.setInputFiles(textFile('old.txt'));
  await page.locator('[name="_file[cv]"]').waitFor({ state: 'attached' });
  await page.route('**/files', (route) => route.abort());
  await cv.setInputFiles(textFile('new.txt'));
  const retry = page.getByRole('button', { name: 'Try again new.txt' });
  await retry.waitFor();
  assert.deepEqual(await heldNames(page), ['old.txt', 'new.txt'], 'nothing is lost if the upload fails');
  await page.unroute('**/files');
  await retry.press('Enter');
  await until('the new one', async () => (await heldNames(page)).join() === 'new.txt');
  await until('the focus on its button', async () => (await focused(page)).startsWith('Remove'));
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?receipt=/);
  assert.deepEqual(namesIn((await answersOf(form))['cv']), ['new.txt']);
  await stage.browser.leave(page);
});

test('uploads pause while offline and continue by themselves', async () => {
  const page = await stage.visit(form);
  await page.context().setOffline(true);
  await field(page, 'photo').setInputFiles([textFile('one.txt'), textFile('two.txt')]);
  await page.getByRole('progressbar', { name: 'one.txt: Paused' }).waitFor();
  await page.locator('[aria-live=polite]').getByText('two.txt: Paused until you’re back online').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await pressButton(page, 'Submit');
  await page.getByRole('alert').getByText('still uploading').waitFor();
  await pressButton(page, 'Cancel one.txt');
  await page.context().setOffline(false);
  await page.locator('[name="_file[photo]"]').waitFor({ state: 'attached' });
  assert.deepEqual(await heldNames(page), ['two.txt']);

  // The network is lost during an upload.
  let isHeld = true;
  await page.route('**/files', async (route) => {
    if (!isHeld) return route.continue();
  });
  await field(page, 'cv').setInputFiles(textFile('slow.txt'));
  await page.getByRole('progressbar', { name: 'slow.txt: 0%' }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole('progressbar', { name: 'slow.txt: Paused' }).waitFor();
  isHeld = false;
  await page.context().setOffline(false);
  await page.locator('[name="_file[cv]"]').waitFor({ state: 'attached' });
  await stage.browser.leave(page);
});

test('a file of 8 MB or more is sent in pieces, which continue after a reload, an outage and lost responses', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'formloom-large-'));
  after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'film.bin');
  const bytes = randomBytes(9 * 1024 * 1024);
  await writeFile(path, bytes);
  const large = await stage.publish([step('Only', [element('file_upload', 'film', { max_files: 1 })])]);
  const page = await stage.visit(large);
  const sent: string[] = [];
  let mode: 'pass' | 'hold' | 'fail' = 'pass';
  await page.route('**/files**', async (route) => {
    const request = route.request();
    const offset = request.headers()['upload-offset'];
    sent.push(offset === undefined ? request.method() : `${request.method()} ${offset}`);
    if (mode === 'hold' && offset !== undefined && offset !== '0') return;
    if (mode === 'fail') return route.fulfill({ status: 503, json: { error: 'service_unavailable' } });
    return route.continue();
  });
  const isSent = (request: string) => until(request, async () => sent.at(-1) === request);

  mode = 'hold';
  await field(page, 'film').setInputFiles(path);
  await isSent('PATCH 8388608');
  await page.getByRole('progressbar', { name: 'film.bin: 88%' }).waitFor();
  await page.reload();
  await page.getByText('Choose film.bin again to finish the upload.').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await wake(page);
  await field(page, 'film').setInputFiles(path);
  await until('it continues', async () => sent.slice(-2).join() === 'HEAD,PATCH 8388608');
  assert.deepEqual(await heldNames(page), ['film.bin']);

  await page.context().setOffline(true);
  await page.getByRole('progressbar', { name: 'film.bin: Paused' }).waitFor();
  mode = 'fail';
  await page.context().setOffline(false);
  await isSent('HEAD');
  mode = 'pass';
  await page.locator('[name="_file[film]"]').waitFor({ state: 'attached' });
  assert.equal(sent.filter((request) => request === 'POST').length, 1);
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?receipt=/);
  const [film] = (await answersOf(large))['film'] as { filename: string; url?: string }[];
  assert.ok(Buffer.from(await (await fetch(film!.url!)).arrayBuffer()).equals(bytes));
  await stage.browser.leave(page);
});

test('canceling a large upload deletes what was sent', { skip: isSlice }, async () => {
  const page = await stage.visit(form);
  let isHeld = true;
  await page.route('**/files/**', async (route) => {
    if (!isHeld || route.request().headers()['upload-offset'] === '0') return route.continue();
  });
  const countFiles = async () =>
    (await stage.tenant.database.query("select from files where filename = 'large.txt'")).rows.length;
  await field(page, 'cv').setInputFiles(textFile('large.txt', 'x'.repeat(9 * 1024 * 1024)));
  await page.getByRole('progressbar', { name: 'large.txt: 88%' }).waitFor();
  assert.equal(await countFiles(), 1);
  isHeld = false;
  await pressButton(page, 'Cancel large.txt');
  await until('it is deleted', async () => (await countFiles()) === 0);
  assert.deepEqual(await heldNames(page), []);
  await stage.browser.leave(page);
});

test('a phone opens its camera for a question about images, and the picture is shown', {
  skip: isSlice,
}, async () => {
  const pictures = await stage.publish([
    step('Only', [
      element('file_upload', 'damage', { accept: ['image/*', '.pdf'] }),
      element('file_upload', 'cv', { accept: ['.pdf'] }),
    ]),
  ]);
  const page = await stage.visit(pictures, {
    isMobile: true,
    hasTouch: true,
    viewport: { width: 375, height: 800 },
  });
  await page.locator('.sends_files').waitFor();
  const camera = page.getByRole('button', { name: 'Take a photo The damage' });
  assert.equal(await page.locator('.photo').count(), 1, 'only where photos are accepted');
  const chooser = page.waitForEvent('filechooser');
  await page.evaluate(`document.getElementById('damage').addEventListener('click', ({ target }) => {
    window.asked = [target.accept, target.capture];
  })`);
  await camera.tap();
  await (await chooser).setFiles({ name: 'photo.png', mimeType: 'image/png', buffer: pixel });
  assert.deepEqual(await page.evaluate('window.asked'), ['image/*', 'environment']);
  assert.equal(await field(page, 'damage').getAttribute('accept'), 'image/*,.pdf');
  assert.equal(await field(page, 'damage').getAttribute('capture'), null);
  await page.locator('.held img').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.context().close();

  const desk = await stage.visit(pictures);
  await desk.locator('.sends_files').waitFor();
  assert.equal(await desk.locator('.photo').isVisible(), false);
  await stage.browser.leave(desk);
});

test('the review shows pictures of images and signatures, also after a reload', {
  skip: isSlice,
}, async () => {
  const signed = await stage.publish(
    [step('Only', [element('file_upload', 'photo', { accept: ['image/*'] }), element('signature', 'sign')])],
    { review_step: true },
  );
  const page = await stage.visit(signed);
  await field(page, 'photo').setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: pixel });
  await page.locator('[name="_file[photo]"]').waitFor({ state: 'attached' });
  await field(page, 'sign').fill('Ada');
  await pressButton(page, 'Next');
  await page.getByRole('heading', { name: 'Check your answers' }).waitFor();
  const picture = page.getByRole('img', { name: 'Ada' });
  await picture.waitFor();
  assert.ok(await page.evaluate<boolean>("document.querySelector('.review .file img').naturalWidth === 1"));
  assert.deepEqual(await findBarriers(page), []);
  await page.reload();
  await picture.waitFor();
  const copy = "document.querySelector('.review .file img')?.naturalWidth";
  await until('the copy of the photo is shown', async () => (await page.evaluate(copy)) === 1);
  assert.match(await page.title(), /^Check your answers – (?!Check)/);
  await stage.browser.leave(page);
});

test('if the storage of the window is full, a reload loses the preview of a picture, but no answer', async () => {
  const described = await stage.publish([
    step('Only', [element('file_upload', 'photo', { accept: ['image/*'] }), element('text', 'city')]),
  ]);
  const page = await stage.visit(described);
  await field(page, 'photo').setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: pixel });
  await page.locator('[name="_file[photo]"]').waitFor({ state: 'attached' });
  await until('the preview is stored', () =>
    page.evaluate<boolean>("Object.values(sessionStorage).some((text) => text.includes('data:image/'))"),
  );
  await page.evaluate(`for (let size = 2 ** 24; size >= 1; size /= 2)
    try {
      for (;;) sessionStorage.setItem('rest' + sessionStorage.length, 'x'.repeat(size));
    } catch {}`);
  await field(page, 'city').fill('Rome');
  await page.reload();
  await until('the answer is restored', async () => (await field(page, 'city').inputValue()) === 'Rome');
  assert.deepEqual(await heldNames(page), ['photo.png']);
  assert.equal(await page.locator('.held img').count(), 0);
  await stage.browser.leave(page);
});
