import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import { composite, element, structure } from '#ast/testing.ts';
import { looksAt } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import {
  ada,
  browser,
  make,
  openBuilder,
  part,
  problems,
  read,
  service,
  workspaceId,
} from './builder-page.ts';

/* The builder for everybody: axe, hostile texts, narrow windows, viewers. */

const payload = '<img src=x onerror="window.hit=1">"><script>window.hit=1</script>{{7*7}}';
const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const schemes = ['light', 'dark'] as const;
for (const colorScheme of schemes) {
  test(`axe finds nothing in any view, ${colorScheme}, and markup in every text is text`, async () => {
    const condition = {
      any: [
        { element: 'b', is: 'one_of', value: [payload] },
        { not: { all: [{ reference: payload, is: 'contains', value: payload }] } },
      ],
    };
    const step = {
      type: 'step',
      attrs: { title: payload, description: payload, jumps: [{ when: condition, to: payload }] },
      children: [
        element('text', 'a', { label: payload, help_text: payload, placeholder: payload }),
        element('radio', 'b', { label: payload, options: [payload, 'x'] }),
        composite('c', [element('text', 'd', { label: payload })], { label: payload, repeatable: true }),
        { type: 'nonsense', attrs: { label: payload }, children: [] },
        element('text', 'e', { label: 'Ruled', pattern: 'a+', show_when: condition }),
      ],
    };
    const form = await make(structure(element('text', 'z')));
    const attrs = { name: payload, description: payload, languages: ['en', 'ar'] };
    const hostile = { type: 'form', attrs, children: [step] };
    await ada.api('PUT', `/forms/${form}/draft`, { structure: hostile });
    const page = await openBuilder(form, ada, { colorScheme });
    await page.evaluate(axe);
    const found: string[] = [];
    let views = 0;
    const check = async (where: string): Promise<void> => {
      views += 1;
      if (!looksAt(views, schemes).includes(colorScheme)) return;
      const results = await page.evaluate<AxeResults>(`(async () => {
        const passing = document.getAnimations().filter(({ effect }) => effect.getTiming().iterations !== Infinity);
        await Promise.all(passing.map(({ finished }) => finished));
        return axe.run({ exclude: ['iframe'] }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
      })()`);
      for (const { id, nodes } of results.violations)
        found.push(`${where}: ${id} at ${nodes.map(({ target }) => JSON.stringify(target)).join(' and ')}`);
    };
    await check('design');
    await part(page, '“<img').nth(2).click();
    await check('an element');
    await part(page, '“Ruled”').click();
    await check('rules and logic of an element');
    await page.getByRole('button', { name: /^1 / }).first().click();
    await check('the jumps of a step');
    await page.keyboard.press('/');
    await page.getByRole('dialog', { name: 'Add an element' }).waitFor();
    await check('the insert menu');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await shortcuts.getByText('Ctrl+Shift+Z').waitFor();
    await check('the list of shortcuts');
    await page.keyboard.press('Escape');
    await shortcuts.waitFor({ state: 'detached' });
    await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
    await check('publish');
    await page.keyboard.press('Escape');
    for (const view of ['Preview', 'Languages', 'Settings', 'Share', 'History', 'JSON']) {
      await page
        .getByRole('navigation', { name: 'Views of this form' })
        .getByRole('button', { name: view })
        .click();
      await page.locator('[aria-busy]').waitFor({ state: 'detached' });
      await check(view);
    }
    assert.deepEqual(found, []);
    assert.equal(await page.evaluate(`'hit' in window`), false);
    await page.context().close();
  });
}

test('below 768 px a notice leads to the other screens; a viewer looks and cannot change', async () => {
  const form = await make(structure(element('text', 'a', { label: 'Name' })));
  const phone = await browser.newContext({ viewport: { width: 375, height: 700 } });
  await phone.addCookies(ada.cookies);
  const narrow = await phone.newPage();
  await narrow.goto(`${service.url}/app/forms/${form}`);
  await narrow.getByText('The builder needs a wider window').waitFor();
  assert.equal(await narrow.getByRole('main').getByRole('link').count(), 3);
  await phone.close();

  const viewer = await signIn(service, { workspaceId, role: 'viewer' });
  const page = await openBuilder(form, viewer);
  await page.getByText('You may look, not change.').waitFor();
  await part(page, '“Name”').click();
  for (const key of ['Delete', 'Control+d', ' ', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
  await part(page, '“Name”').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Publish' }).count(), 0);
  await page.keyboard.press('Control+s');
  assert.equal((await read(form)).draft.revision, 0);
  await page.context().close();
});

test('the browser had nothing to complain about', () => {
  assert.deepEqual(problems, []);
});
