import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { signIn } from '#test/console.ts';
import { goNowhere, goWithin, openConsoleBrowser, payloads } from '#test/console-browser.ts';
import { openReceiver } from '#test/receiver.ts';
import { shareService, until } from '#test/service.ts';
import { element } from '../ast/forms.ts';

/*
 * Markup and scripts in every string of a form, its answers, files and reference values, and of a workspace,
 * its people and keys. They are shown on every screen: none is executed, and none violates the content
 * security policy (docs/rules.md C51).
 */

const service = await shareService();
const console = await openConsoleBrowser(service);
const receiver = await openReceiver();
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const owner = await signIn(service, { workspaceId, name: payloads[0] });
const all = payloads.join(' ');

const hostile = (type: string, id: string, attrs: object = {}) =>
  element(type, id, { label: `${id} ${all}`, help_text: all, ...attrs });

const form = {
  type: 'form',
  attrs: { name: all, description: all },
  children: [
    {
      type: 'step',
      attrs: { title: all, description: all },
      children: [
        hostile('text', 'name', { placeholder: all, required: true }),
        hostile('textarea', 'note', { placeholder: all }),
        hostile('url', 'site'),
        hostile('radio', 'choice', { options: payloads }),
        hostile('multiple_choice', 'choices', { options: payloads }),
        hostile('dropdown', 'one', { options: payloads }),
        hostile('file_upload', 'photo'),
        { type: 'heading', attrs: { label: all }, children: [] },
        { type: 'paragraph', attrs: { label: all }, children: [] },
        {
          type: 'composite',
          attrs: { id: 'rows', label: all, repeatable: true },
          children: [hostile('text', 'cell')],
        },
      ],
    },
  ],
};

/** Creates a form with these texts, a submission, one more in the trash, a webhook and its delivery. */
async function stage() {
  const made = await tenant.call('POST', '/forms', {
    structure: form,
    publish: true,
    settings: { confirmation_message: all },
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body;
  await owner.api('PATCH', '/workspace', { name: payloads[1] });
  await signIn(service, { workspaceId: owner.workspaceId, role: 'viewer', name: payloads[3] });
  await owner.api('POST', '/keys', { name: payloads[2] });
  const hook = await owner.api<{ id: string }>('POST', `/forms/${id}/webhooks`, {
    url: `${receiver.url}?x=${encodeURIComponent(payloads[0])}`,
    events: ['submission.created'],
  });
  receiver.replyWith({ status: 404, body: all }, { status: 404, body: all });
  const [submission, trashed] = [await submit(id), await submit(id)];
  await owner.api('DELETE', `/submissions/${trashed}`);
  await owner.api('PATCH', `/submissions/${submission}`, {
    reference: { [payloads[0]]: payloads[1] },
    tags: [payloads[2].slice(0, 50)],
  });
  await owner.api('POST', `/submissions/${submission}/notes`, { text: payloads[3] });
  const delivery = await until('a delivery to settle', async () => {
    type Log = { data: { id: string; status: string }[] };
    const { data } = (await owner.api<Log>('GET', `/webhooks/${hook.body.id}/deliveries`)).body;
    return data.find(({ status }) => status === 'Failed')?.id;
  });
  return { id, submission, webhook: hook.body.id, delivery };
}

async function submit(id: string): Promise<string> {
  const data = new FormData();
  for (const [name, value] of [
    ['name', all],
    ['note', payloads.join('\n')],
    ['site', 'https://example.com/"onmouseover="alert(4)'],
    ['choice', payloads[0]],
    ['choices', payloads[1]],
    ['one', payloads[2]],
    ['rows[0][cell]', all],
  ] as const)
    data.append(name, value);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(5)"/>';
  data.append('photo', new Blob([svg], { type: 'image/svg+xml' }), `${payloads[0]}.svg`);
  const query = `${encodeURIComponent(payloads[0])}=${encodeURIComponent(payloads[1])}`;
  const sent = await fetch(`${service.url}/f/${id}?${query}`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: data,
  });
  const body = (await sent.json()) as { id: string };
  assert.equal(sent.status, 201, JSON.stringify(body));
  return body.id;
}

const staged = await stage();
const inForm = `/app/forms/${staged.id}`;
const press = (name: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name }).first().click();
};

type Screen = readonly [path: string, ready: string, act?: (page: Page) => Promise<void>];

const screens: readonly Screen[] = [
  [`/f/${staged.id}`, 'form'],
  [`/app/w/${workspaceId}/forms`, 'tbody tr'],
  [`/app/w/${workspaceId}/submissions`, 'tbody tr'],
  [`/app/w/${workspaceId}/settings/general`, 'h1'],
  [`/app/w/${workspaceId}/settings/members`, 'tbody tr'],
  [`/app/w/${workspaceId}/settings/activity`, 'tbody tr'],
  [`/app/w/${workspaceId}/settings/keys`, 'tbody tr', press(/^Actions for/)],
  ['/app/account', 'h1'],
  [inForm, '.canvas-body'],
  ...['Preview', 'Settings', 'Share', 'History', 'JSON'].map(
    (view) =>
      [
        inForm,
        '[aria-label="Form views"]',
        (page: Page) =>
          page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name: view }).click(),
      ] as const,
  ),
  [`${inForm}/submissions`, '.sheet-row', press('Add filter')],
  [`${inForm}/submissions?open=${staged.submission}&q=alert`, '.timeline-entry', press('Edit answers')],
  [
    `${inForm}/submissions?where=${encodeURIComponent(
      JSON.stringify([{ on: 'answer', name: 'name', op: 'contains', value: payloads[0] }]),
    )}`,
    '.sheet-row',
    press(/^Edit filter/),
  ],
  [`${inForm}/trash`, '.selectable-cell'],
  [`${inForm}/summary`, '.standing-plot'],
  [`${inForm}/webhooks`, 'h1'],
  [`${inForm}/webhooks/${staged.webhook}?delivery=${staged.delivery}`, '[role="dialog"]'],
];

test('no text of a form, answer, file, reference, workspace or person is executed on any screen', async () => {
  const page = await console.open('/healthz', owner);
  for (const [index, [path, ready, act]] of screens.entries()) {
    const before = screens[index - 1]?.[0];
    if (!before?.startsWith('/app/')) await page.goto(service.url + path);
    else if (path !== before) {
      // Clears the previous screen, so that its content is not mistaken for this one's.
      await goNowhere(page);
      await goWithin(page, path);
    }
    await page.locator(ready).first().waitFor();
    await act?.(page);
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    const foreign = page.locator('img[src="x"], [onerror], [onload], [onmouseover], a[href^="javascript:"]');
    assert.equal(await foreign.count(), 0, path);
    assert.equal(await page.evaluate('window.pwned'), undefined, path);
    console.assertQuiet();
  }
  await console.leave(page);
});

test('the page for a refused visitor shows these texts too, and no script runs', async () => {
  const page = await console.open(`/f/${staged.id}`);
  await page.locator('form').first().waitFor();
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.getByRole('alert').first().waitFor();
  assert.equal(await page.evaluate('window.pwned'), undefined);
  assert.equal(await page.locator('img[src="x"], [onerror]').count(), 0);
  console.assertQuiet();
  await console.leave(page);
});
