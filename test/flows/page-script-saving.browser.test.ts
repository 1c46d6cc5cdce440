import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import type { Analytics } from '#submissions/analytics.ts';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { browserAgent } from '#test/paper.ts';
import { until } from '#test/service.ts';
import { composite, element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { field, focused, pressButton, stage, wake } from './page-script-stage.ts';

/*
 * The page with script and more features: saving answers, editing sent answers, a proof of work, and a host
 * page on another origin.
 */

const steps = [
  step('One', [element('text', 'name', { required: true })]),
  step('Two', [element('text', 'note')]),
];

test('answers are saved as the visitor types, and submitting creates one submission from them', async () => {
  const form = await stage.publish(steps, { save_progress: true });
  const page = await stage.visit(form);
  await field(page, 'name').fill('Ada');
  await page.locator('.saved_now').getByText('Saved').waitFor();
  const [saved] = await stage.submissions(form);
  assert.deepEqual([saved?.status, saved?.answers], ['incomplete', { name: 'Ada' }]);
  assert.deepEqual(await findBarriers(page), []);
  await pressButton(page, 'Next');
  await field(page, 'note').fill('later');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  const [only, ...others] = await stage.submissions(form);
  assert.deepEqual(
    [only?.id, only?.status, only?.answers],
    [saved?.id, 'completed', { name: 'Ada', note: 'later' }],
  );
  assert.deepEqual(others, []);
  await stage.browser.leave(page);
});

test('the link to saved answers resumes where the visitor stopped, with script', async () => {
  const form = await stage.publish(steps, { save_progress: true });
  const page = await stage.visit(form);
  await field(page, 'name').fill('Grace');
  await pressButton(page, 'Next');
  await pressButton(page, 'Save and continue later');
  await page.getByRole('heading', { name: 'Saved' }).waitFor();
  const link = new RegExp(`/f/${form.id}/resume/[\\w-]+`).exec(await page.content())?.[0] ?? '';
  const elsewhere = await stage.visit({ ...form, id: `${form.id}${link.slice(`/f/${form.id}`.length)}` });
  await field(elsewhere, 'note').fill('on another device');
  await pressButton(elsewhere, 'Back');
  await until('the first step', async () => (await focused(elsewhere)) === 'One');
  assert.equal(await field(elsewhere, 'name').inputValue(), 'Grace');
  await pressButton(elsewhere, 'Next');
  await pressButton(elsewhere, 'Submit');
  await elsewhere.waitForURL(/\/submitted\?/);
  const [only, ...others] = await stage.submissions(form);
  assert.deepEqual(only?.answers, { name: 'Grace', note: 'on another device' });
  assert.deepEqual(others, []);
  await stage.browser.leave(page);
  await stage.browser.leave(elsewhere);
});

test('sent answers can be changed through their link, without page loads between steps', async () => {
  const form = await stage.publish(steps, { editing: true });
  const page = await stage.visit(form);
  await field(page, 'name').fill('Joan');
  await pressButton(page, 'Next');
  await pressButton(page, 'Submit');
  await page.getByRole('link', { name: 'Change your answers' }).click();
  await field(page, 'name').fill('Joan Clarke');
  await pressButton(page, 'Next');
  await until('the second step', async () => (await focused(page)) === 'Two');
  await pressButton(page, 'Save changes');
  await page.getByText('Your changes have been saved.').waitFor();
  const [only, ...others] = await stage.submissions(form);
  assert.deepEqual([only?.answers, others], [{ name: 'Joan Clarke' }, []]);
  await stage.browser.leave(page);
});

test('a submission of a full form can be changed with a file, without saved answers or a proof of work', async () => {
  const settings = { editing: true, max_submissions: 1, save_progress: true, proof_of_work: true };
  const form = await stage.publish([step('One', [element('file_upload', 'photo')])], settings);
  const page = await stage.visit(form);
  await pressButton(page, 'Submit');
  await page.getByRole('link', { name: 'Change your answers' }).click();
  await wake(page);
  const photo = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('x') };
  await field(page, 'photo').setInputFiles(photo);
  await page.locator('.held [name^="_file["]').waitFor({ state: 'attached' });
  const told = await page.evaluate<object>('JSON.parse(document.getElementById("_form").textContent)');
  assert.deepEqual(['saves' in told, 'proof' in told], [false, false]);
  await pressButton(page, 'Save changes');
  await page.getByText('Your changes have been saved.').waitFor();
  const [only] = await stage.submissions(form);
  assert.deepEqual(
    (only!.answers as { photo: { filename: string }[] }).photo.map(({ filename }) => filename),
    ['a.txt'],
  );
  await stage.browser.leave(page);
});

test('a reload does not restore a row and a file that the visitor removed', async () => {
  const team = composite('team', [element('text', 'member')], { repeatable: true });
  const form = await stage.publish([step('One', [team, element('file_upload', 'photo')])], { editing: true });
  const page = await stage.visit(form);
  await field(page, 'team[0][member]').fill('Ada');
  await page.locator('[name=_add]').click();
  await field(page, 'team[1][member]').fill('Bob');
  const photo = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('x') };
  await field(page, 'photo').setInputFiles(photo);
  await page.locator('.held [type=hidden]').waitFor({ state: 'attached' });
  await pressButton(page, 'Submit');
  await page.getByRole('link', { name: 'Change your answers' }).click();
  await wake(page);
  await page.locator('[name=_remove][value="team[0]"]').click();
  await page.locator('[name=_drop]').check();
  await page.reload();
  await wake(page);
  assert.equal(await field(page, 'team[0][member]').inputValue(), 'Bob');
  await pressButton(page, 'Save changes');
  await page.getByText('Your changes have been saved.').waitFor();
  assert.deepEqual((await stage.submissions(form))[0]?.answers, { team: [{ member: 'Bob' }] });
  await stage.browser.leave(page);
});

test('after a row is removed, a reload keeps each file with its row', { skip: isSlice }, async () => {
  const cells = [element('text', 'member'), element('file_upload', 'card')];
  const team = composite('team', cells, { repeatable: true });
  const form = await stage.publish([step('One', [team])], { editing: true });
  const page = await stage.visit(form);
  for (const [row, member] of ['Ada', 'Bob', 'Cleo'].entries()) {
    if (row > 0) await page.locator('[name=_add]').click();
    await field(page, `team[${row}][member]`).fill(member);
    const card = { name: `${member}.txt`, mimeType: 'text/plain', buffer: Buffer.from(member) };
    await field(page, `team[${row}][card]`).setInputFiles(card);
    await page.locator(`[name="_file[team[${row}][card]]"]`).waitFor({ state: 'attached' });
  }
  await pressButton(page, 'Submit');
  await page.getByRole('link', { name: 'Change your answers' }).click();
  await wake(page);
  await page.locator('[name=_remove][value="team[1]"]').click();
  await page.locator('[name=_add]').click();
  await field(page, 'team[2][member]').fill('Dan');
  await page.reload();
  await wake(page);
  await page.locator('[name="_file[team[1][card]]"]').waitFor({ state: 'attached' });
  assert.deepEqual(await page.locator('.held bdi').allInnerTexts(), ['Ada.txt', 'Cleo.txt']);
  await pressButton(page, 'Save changes');
  await page.getByText('Your changes have been saved.').waitFor();
  const [only] = await stage.submissions(form);
  assert.deepEqual(
    (only!.answers as { team: { member: string; card?: { filename: string }[] }[] }).team.map(
      ({ member, card = [] }) => [member, ...card.map(({ filename }) => filename)],
    ),
    [['Ada', 'Ada.txt'], ['Cleo', 'Cleo.txt'], ['Dan']],
  );
  await stage.browser.leave(page);
});

test('if two windows share a page, the second one with other answers sees a message and can send them as new', async () => {
  const form = await stage.publish(steps);
  const first = await stage.visit(form);
  const second = await stage.visit(form);
  const key = await first.locator('[name=_key]').inputValue();
  await second.evaluate(`document.querySelector('[name=_key]').value = ${JSON.stringify(key)}`);
  for (const [page, name] of [
    [first, 'Ada'],
    [second, 'Grace'],
  ] as const) {
    await field(page, 'name').fill(name);
    await pressButton(page, 'Next');
    await pressButton(page, 'Submit');
    if (page === first) await page.waitForURL(/\/submitted\?/);
  }
  await second
    .getByRole('status')
    .getByText('This page was already submitted with different answers')
    .waitFor();
  await wake(second);
  await pressButton(second, 'Submit as a new response');
  await second.waitForURL(/\/submitted\?/);
  const names = (await stage.submissions(form)).map(({ answers }) => answers['name']);
  assert.deepEqual(names.toSorted(), ['Ada', 'Grace']);
  await stage.browser.leave(first);
  await stage.browser.leave(second);
});

test('the script computes the proof of work that a form requires', { skip: isSlice }, async () => {
  const form = await stage.publish([step('One', [element('text', 'name')])], { proof_of_work: true });
  const page = await stage.visit(form);
  await field(page, 'name').fill('Ada');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  assert.equal((await stage.submissions(form)).length, 1, 'it is taken, and not held back');
  await stage.browser.leave(page);
});

test('a host page on another origin receives the height, steps and submission, and no answers', {
  skip: isSlice,
}, async () => {
  const form = await stage.publish(steps);
  const host = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><title>Host</title>
      <script>heard = []; addEventListener('message', (event) => heard.push(event.data));</script>
      <iframe src="${stage.service.url}/f/${form.id}?_embed=1" width="600" height="600"></iframe>`);
  });
  after(() => host.closeAllConnections());
  after(() => host.close());
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const opened = await stage.browser.open('/healthz');
  // A window without console checks, because the browser reports there that a frame did not get the focus.
  const page = await opened.context().newPage();
  // A different host name and port make a different origin.
  await page.goto(`http://localhost:${(host.address() as AddressInfo).port}/`);
  const frame = page.frameLocator('iframe');
  await frame.locator('[id="name"]').fill('Secret');
  await frame.getByRole('button', { name: 'Next' }).click();
  await frame.getByRole('button', { name: 'Submit' }).click();
  await frame.getByRole('heading', { name: 'Thank you' }).waitFor();
  type Message = {
    formloom: number;
    form: string;
    event: string;
    height?: number;
    step?: number;
    receipt?: string;
  };
  const heard = await page.evaluate<Message[]>('heard');
  assert.ok(heard.every(({ formloom, form: id }) => formloom === 1 && id === form.id));
  const of = (event: string): Message | undefined => heard.find((message) => message.event === event);
  assert.ok(of('loaded'));
  assert.ok((of('height')?.height ?? 0) > 200);
  assert.equal(of('step')?.step, 2);
  assert.equal(of('submitted')?.receipt, (await stage.submissions(form))[0]?.id);
  assert.ok(!JSON.stringify(heard).includes('Secret'));
  await page.close();
  await stage.browser.leave(opened);
});

test('the progress of a visit is reported once when the page is left, or with the submission', {
  skip: isSlice,
}, async () => {
  const form = await stage.publish(steps);
  const visits = { userAgent: browserAgent };
  const left = await stage.visit(form, visits);
  await field(left, 'name').fill('Ada');
  await pressButton(left, 'Next');
  await field(left, 'note').fill('begun');
  await left.goto(`${stage.service.url}/healthz`);
  await stage.browser.leave(left);

  const sent = await stage.visit(form, visits);
  await field(sent, 'name').fill('Ben');
  await sent.reload();
  await wake(sent);
  assert.equal(await field(sent, 'name').inputValue(), 'Ben');
  await pressButton(sent, 'Next');
  await pressButton(sent, 'Submit');
  await sent.waitForURL(/\/submitted\?/);
  await stage.browser.leave(sent);

  const found = await until('both visits', async () => {
    const { body } = await stage.tenant.call('GET', `/forms/${form.id}/analytics`);
    const { starts, completions, views, script_share, ...rest } = body as unknown as Analytics;
    return starts + completions === 3 ? { starts, completions, views, script_share, ...rest } : undefined;
  });
  // The page was viewed three times, one of them a reload.
  assert.deepEqual([found.views, found.starts, found.completions, found.script_share], [3, 2, 1, 1]);
  assert.deepEqual(
    found.steps.map(({ reached, left: gone }) => [reached, gone]),
    [
      [3, 1],
      [2, 1],
    ],
  );
  assert.deepEqual(
    found.questions.map(({ id, left: gone }) => [id, gone]),
    [
      ['name', 0],
      ['note', 1],
    ],
  );
});
