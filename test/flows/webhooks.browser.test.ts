import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { lookAround, openConsoleBrowser, tabTo, write } from '#test/console-browser.ts';
import { openReceiver, type Receiver, type Reply } from '#test/receiver.ts';
import { openService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { laneOf } from '#webhooks/delivery-job.ts';
import { verifySignature } from '#webhooks/signature.ts';
import { element, structure } from '../ast/forms.ts';

const service = await openService({ WEBHOOK_RETRY_DELAYS: '2.5,2.5' });
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const editor = await signIn(service, { role: 'editor', workspaceId: tenant.workspaceId });
const browser = await openConsoleBrowser(service, { goesWithin: true });

const payload = `"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`;

const makeForm = async (of = tenant): Promise<string> => {
  const form = structure(element('text', 'name', { label: 'Your name' }));
  return (await of.call('POST', '/forms', { structure: form, publish: true })).body.id;
};

type Scene = { form: string; webhook: string; receiver: Receiver; path: string };
async function setScene(...replies: Reply[]): Promise<Scene> {
  const form = await makeForm();
  const receiver = await openReceiver({ path: '/hook?q=%22%3E%3Cscript%3Ewindow.pwned=1%3C/script%3E' });
  receiver.replyWith(...replies);
  const sent = { url: receiver.url, events: ['submission.created'] };
  const { body } = await editor.api<{ id: string }>('POST', `/forms/${form}/webhooks`, sent);
  return { form, webhook: body.id, receiver, path: `/webhooks/${body.id}` };
}

/** Opens a console page, signed in as this person. */
const openPage = (person: ConsolePerson, path: string): Promise<Page> => browser.open(`/app${path}`, person);

/** Closes a test's window and asserts that it ran no entered script, broke no policy and threw no error. */
async function leave(page: Page): Promise<void> {
  assert.equal(await page.evaluate(`window.pwned`), undefined);
  browser.assertQuiet();
  await browser.leave(page);
}

test('by keyboard alone: add a signed webhook, send a test, see the request and the response', async () => {
  const form = await makeForm();
  const receiver = await openReceiver();
  receiver.replyWith({ status: 200, body: payload });
  const page = await openPage(editor, `/forms/${form}/webhooks`);
  await page.getByText('A webhook notifies another program').waitFor();

  await tabTo(page, 'button', 'Add webhook');
  await page.keyboard.press('Enter');
  const address = page.getByLabel('URL', { exact: true });
  await address.waitFor();
  const listen = page.getByText('formloom listen --forward-to ');
  const guide = await readFile(new URL('../../docs/guides/webhooks.md', import.meta.url), 'utf8');
  assert.ok(guide.includes((await listen.textContent())!.replace('formloom', 'formloom --')));
  const leads = await page.getByRole('link', { name: 'To test on your own computer' }).getAttribute('href');
  assert.ok(
    guide.includes('## On your own machine') && leads!.endsWith('/docs/#description/on-your-own-machine'),
  );
  await write(page, 'http://example.com');
  await page.getByText('The URL must begin with https://.').waitFor();
  await page.keyboard.press('ControlOrMeta+A');
  await write(page, receiver.url);
  assert.ok(await page.getByRole('radio', { name: /^Generate a secret/ }).isChecked());
  await page.keyboard.press('Enter');
  const secretBox = page.getByRole('textbox', { name: 'Secret', exact: true });
  const secret = (await secretBox.textContent())!;
  assert.match(secret, /^whsec_/);
  await tabTo(page, 'button', 'Copy secret');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copied secret' }).waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);
  await tabTo(page, 'tab', 'Node');
  await page.keyboard.press('ArrowRight');
  await page.getByText('hmac.compare_digest').waitFor();
  await tabTo(page, 'button', 'I have saved it');
  await page.keyboard.press('Enter');

  await page.getByText('No deliveries yet').waitFor();
  assert.equal((await page.content()).includes(secret), false);
  await tabTo(page, 'button', 'Send test');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'Delivery' });
  await panel.getByText('Response 200', { exact: true }).waitFor();
  await panel.getByText('Success').waitFor();
  assert.equal(await panel.getByText('Test', { exact: true }).count(), 1);
  const [request] = receiver.requests;
  assert.ok(verifySignature(secret, request!.body, request!.headers['x-service-signature'] as string));
  const shown = await panel.getByLabel('Request body, identical in every attempt').textContent();
  assert.deepEqual(JSON.parse(shown!), JSON.parse(request!.body.toString()));
  assert.match(
    (await panel.getByLabel('Request headers').textContent())!,
    /X-Service-Signature: sha256=\(hidden\)/,
  );
  assert.equal(await panel.getByLabel('Response body').textContent(), payload);
  assert.equal(await panel.getByRole('button', { name: 'Retry now' }).count(), 0);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await page.getByText('No deliveries').waitFor();
  await leave(page);
});

test('short details of a webhook fill rows, and long ones follow below', { skip: isSlice }, async () => {
  const form = await makeForm();
  const sent = { url: 'https://example.com/hook', events: ['submission.created'] };
  const more = {
    pauses_on_failure: false,
    headers: [{ name: 'X-Tenant', value: 'a' }],
    filter: { element: 'name', is: 'answered' },
  };
  for (const [body, rows] of [
    [sent, { 800: [3, 3, 1], 1280: [6, 1] }],
    [
      { ...sent, ...more },
      { 800: [3, 3, 1, 1, 1, 1], 1280: [6, 1, 1, 1, 1] },
    ],
  ] as const) {
    const { status, body: made } = await editor.api<{ id: string }>('POST', `/forms/${form}/webhooks`, body);
    assert.equal(status, 201, JSON.stringify(made));
    const page = await openPage(editor, `/forms/${form}/webhooks/${made.id}`);
    const facts = page.locator('.webhook-facts .webhook-fact');
    await facts.first().waitFor();
    for (const [width, expected] of Object.entries(rows)) {
      await page.setViewportSize({ width: Number(width), height: 800 });
      const tops = await facts.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      const inRows = [...Map.groupBy(tops, Math.round).values()].map(({ length }) => length);
      assert.deepEqual(inRows, expected, `${width} px`);
    }
    await leave(page);
  }
});

/** Sets the next attempt of the waiting delivery to this long from now. */
const putOff = (scene: Scene, wait: string): Promise<true | undefined> =>
  until('the attempt to be written down', async () => {
    const { rowCount } = await service.services.database.query(
      'update jobs set run_at = now() + $1::interval where lane = $2 and lease_token is null',
      [wait, laneOf(scene.webhook)],
    );
    return rowCount === 1 || undefined;
  });

test('a delivery shows Retrying while the receiver fails, then Success, without a reload', async () => {
  const scene = await setScene(503, { status: 200, body: 'now' });
  assert.equal((await visitor.submit(scene.form, { name: payload })).status, 201);
  await scene.receiver.waitFor(1);
  // Opening the page may take longer than the retry delay.
  await putOff(scene, '1 hour');
  const page = await openPage(editor, `/forms/${scene.form}/webhooks/${scene.webhook}`);
  const row = page.getByRole('table').getByRole('row').nth(1);
  await row.getByText('Retrying').waitFor();
  assert.match((await row.textContent())!, /503.*1 of 3/);
  await putOff(scene, '0');
  service.services.wakeQueue();
  await row.getByText('Success').waitFor();
  assert.match((await row.textContent())!, /200/);
  await page.getByText('1 delivered').waitFor();
  assert.equal(scene.receiver.requests.length, 2);
  await leave(page);
});

test('a failed delivery: the log says why, and Retry sends it once more, even when clicked twice', {
  skip: isSlice,
}, async () => {
  const scene = await setScene({ status: 404, body: payload }, 200);
  await visitor.submit(scene.form, { name: payload });
  await scene.receiver.waitFor(1);
  const page = await openPage(editor, `/forms/${scene.form}/webhooks/${scene.webhook}`);
  await page.getByRole('row').getByText('Failed').waitFor();
  await tabTo(page, 'button', /^just now/);
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'Delivery' });
  await panel
    .getByText('The receiver returned 404. The delivery will not be retried automatically.')
    .waitFor();
  assert.match(page.url(), /delivery=[0-9a-f-]{36}/);
  assert.equal(await panel.getByLabel('Response body').textContent(), payload);
  assert.ok((await panel.getByLabel('Request body').textContent())!.includes('onerror'));
  await panel.getByRole('button', { name: 'Retry now' }).dblclick();
  await panel.getByText('Response 200', { exact: true }).waitFor();
  await panel.getByText('Attempt 2 · manual').waitFor();
  assert.equal(scene.receiver.requests.length, 2);
  assert.equal(
    await panel.or(panel.locator('*')).and(page.locator(':focus')).count(),
    1,
    'the focus stays in the panel',
  );
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await page.getByRole('row').getByText('Success').waitFor();
  await leave(page);
});

test('filters are kept in the URL, and Back closes what was opened', { skip: isSlice }, async () => {
  const scene = await setScene(404, 200);
  for (const [index, name] of ['first', 'second'].entries()) {
    await visitor.submit(scene.form, { name });
    await scene.receiver.waitFor(index + 1);
  }
  const log = () => editor.api<{ data: { status: string }[] }>('GET', `${scene.path}/deliveries`);
  await until('both to settle', async () =>
    (await log()).body.data.every(({ status }) => status !== 'Retrying'),
  );
  const page = await openPage(editor, `/forms/${scene.form}/webhooks/${scene.webhook}`);
  const rows = page.locator('tbody').getByRole('row');
  const showsRows = (count: number) => until(`${count} rows`, async () => (await rows.count()) === count);
  await showsRows(2);
  await page.getByRole('button', { name: /Status/ }).click();
  await page.getByRole('option', { name: 'Failed' }).click();
  await page.waitForURL(/status=Failed/);
  await showsRows(1);
  assert.match((await rows.first().textContent())!, /404/);
  await page.reload();
  await showsRows(1);
  await page.getByLabel('From').fill('2030-01-01');
  await page.getByText('No matching deliveries').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await showsRows(2);
  await rows.first().getByRole('button').click();
  await page.getByRole('dialog').waitFor();
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await leave(page);
});

test('a webhook is edited, paused, resumed and deleted', { skip: isSlice }, async () => {
  const scene = await setScene(200);
  const page = await openPage(editor, `/forms/${scene.form}/webhooks`);
  const card = page.getByRole('listitem');
  const choose = async (action: string): Promise<void> => {
    await card.getByRole('button', { name: /Actions/ }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  await choose('Edit');
  await page.getByText('Submission deleted', { exact: true }).click();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await card.getByText('Submission deleted').waitFor();
  await choose('Pause');
  await card.getByText('Paused').waitFor();
  await visitor.submit(scene.form, { name: 'unheard' });
  await choose('Resume');
  await card.getByText('Active').waitFor();
  await choose('Delete');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete webhook' }).click();
  await page.getByText('No webhooks yet').waitFor();
  assert.equal(scene.receiver.requests.length, 0);
  await leave(page);
});

test('a viewer sees everything but can change nothing, and the free plan says why there are no secrets', async () => {
  const scene = await setScene(404);
  await visitor.submit(scene.form, { name: 'seen' });
  await scene.receiver.waitFor(1);
  const viewer = await signIn(service, { role: 'viewer', workspaceId: tenant.workspaceId });
  const page = await openPage(viewer, `/forms/${scene.form}/webhooks/${scene.webhook}`);
  await page.getByRole('row').getByText('Failed').waitFor();
  await page.locator('tbody').getByRole('button').click();
  await page.getByText('The receiver returned 404').waitFor();
  for (const name of ['Retry now', 'Send test', /Actions/]) {
    assert.equal(await page.getByRole('button', { name, includeHidden: true }).count(), 0);
  }
  await leave(page);

  const free = await service.makeTenant({ plan: 'free' });
  const person = await signIn(service, { role: 'editor', workspaceId: free.workspaceId });
  const poor = await openPage(person, `/forms/${await makeForm(free)}/webhooks`);
  await poor.getByRole('button', { name: 'Add webhook' }).click();
  await poor.getByText('Signing requires the Pro, Business or Enterprise plan').waitFor();
  assert.deepEqual(await poor.getByRole('radio').count(), 1);
  await leave(poor);
});

test('axe reports no violations and nothing overflows, wide and narrow, light and dark', async () => {
  const scene = await setScene({ status: 404, body: payload });
  await visitor.submit(scene.form, { name: payload });
  const screens: readonly [path: string, ready: string, press?: RegExp][] = [
    [`/forms/${await makeForm()}/webhooks`, 'No webhooks yet'],
    [`/forms/${scene.form}/webhooks`, 'Last 24 hours', /Add webhook/],
    [`/forms/${scene.form}/webhooks/${scene.webhook}`, 'Failed', /^just now|ago/],
  ];
  const page = await openPage(editor, screens[0]![0]);
  const checkScreen = lookAround(page);
  for (const [path, ready, press] of screens) {
    await page.goto(`${service.url}/app${path}`);
    await page.getByText(ready).first().waitFor();
    await checkScreen(path);
    if (!press) continue;
    await page.getByRole('button', { name: press }).first().click();
    await page
      .getByRole('dialog')
      .getByText(/Events|Attempt/)
      .first()
      .waitFor();
    await checkScreen(`${path}, ${press}`);
  }
  await leave(page);
});
