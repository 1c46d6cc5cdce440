import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { element } from '#ast/testing.ts';
import { companySteps } from './page-script-form.ts';
import {
  field,
  fillFirstStep,
  headingHasFocus,
  openScriptStage,
  pressButton,
  step,
  wake,
} from './page-script-stage.ts';

/* Logic as one types, answers of one's own, and a script that comes late or not at all. */
const stage = await openScriptStage();
after(() => stage.browser.assertQuiet());
const form = await stage.publish(companySteps);

test('logic: what an answer shows or hides comes and goes at once, and what is hidden is not sent', async () => {
  const page = await stage.visit(form);
  await fillFirstStep(page);
  assert.equal(await field(page, 'company').isVisible(), false);
  await page.getByRole('radio', { name: 'Company' }).check();
  await field(page, 'company').fill('Engines');
  await page.getByRole('radio', { name: 'Person' }).check();
  assert.equal(await field(page, 'company').isVisible(), false);
  await page.getByRole('radio', { name: 'Company' }).check();
  assert.equal(await field(page, 'company').inputValue(), 'Engines', 'it is kept while one tries');
  await page.getByRole('radio', { name: 'Person' }).check();
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'The team');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  const [newest] = await stage.submissions(form);
  assert.deepEqual(newest?.answers, { name: 'Ada', kind: 'Person' });
  await page.context().close();
});

test('a step of which an answer leaves nothing to show is passed over at once, both ways, and not counted', async () => {
  const isYes = { show_when: { element: 'more', is: 'equals', value: true } };
  const steps = [
    step('One', [element('yes_no', 'more')]),
    step('Two', [element('heading', 'head', isYes), element('text', 'two', isYes)]),
    step('End', [element('text', 'three')]),
  ];
  const page = await stage.visit(await stage.publish(steps));
  const counted = () => page.locator('#_progress p').innerText();
  await page.getByRole('radio', { name: 'Yes' }).check();
  assert.equal(await counted(), 'Step 1 of 3');
  await page.getByRole('radio', { name: 'No', exact: true }).check();
  assert.equal(await counted(), 'Step 1 of 2');
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'End');
  assert.equal(await counted(), 'Step 2 of 2');
  await pressButton(page, 'Back');
  await headingHasFocus(page, 'One');
  await page.context().close();
});

test('"Other" opens a place for an answer of one\'s own, and closes it when another option is chosen', async () => {
  const own = await stage.publish([
    step('One', [
      element('radio', 'colour', { other: true }),
      element('dropdown', 'place', { other: true }),
      element('multiple_choice', 'several', { other: true }),
    ]),
  ]);
  const page = await stage.visit(own);
  const textOf = (question: string) =>
    page.getByRole('textbox', { name: `The ${question}: your own answer` });
  const choose = async (other: boolean): Promise<void> => {
    const option = other ? 'Other' : 'Red';
    await page.getByRole('radio', { name: option }).check();
    await field(page, 'place').selectOption({ label: option });
    await page.getByRole('checkbox', { name: 'Other' }).setChecked(other);
  };
  for (const question of ['colour', 'place', 'several']) assert.equal(await textOf(question).count(), 0);
  await choose(true);
  await pressButton(page, 'Submit');
  await page.getByRole('alert').waitFor();
  for (const question of ['colour', 'place', 'several']) await textOf(question).fill('Mauve');
  await choose(false);
  for (const question of ['colour', 'place', 'several']) assert.equal(await textOf(question).count(), 0);
  await choose(true);
  await page.reload();
  await wake(page);
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  assert.deepEqual((await stage.submissions(own))[0]?.answers, {
    colour: 'Mauve',
    place: 'Mauve',
    several: ['Mauve'],
  });
  await page.context().close();
});

test('a script that fails leaves the form to the browser, which posts it', async () => {
  const visited = await stage.visit(form);
  const page = await visited.context().newPage();
  await page.route('**/f/assets/start-*', (route) => route.abort());
  await page.goto(visited.url());
  await fillFirstStep(page);
  await pressButton(page, 'Next');
  await page.getByRole('heading', { name: 'The team' }).waitFor();
  assert.equal(await page.locator('[aria-live=polite]').count(), 0, 'no script is at work');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  await page.context().close();
});

test('who loses the network before the first touch loses nothing: what the script needs is here when the page is quiet', async () => {
  const files = await stage.publish(
    [
      step('Who', [element('text', 'name'), element('file_upload', 'photo')]),
      step('End', [element('text', 'note')]),
    ],
    { proof_of_work: true },
  );
  const page = await stage.browser.open('/healthz');
  await page.goto(`${stage.service.url}/f/${files.id}`, { waitUntil: 'networkidle' });
  await page.context().setOffline(true);
  await pressButton(page, 'Next');
  await page.getByRole('heading', { name: 'End' }).waitFor();
  await pressButton(page, 'Submit');
  await page.getByRole('alert').getByText('Your answers could not be sent').waitFor();
  await page.context().setOffline(false);
  await pressButton(page, 'Send again');
  await page.waitForURL(/\/submitted\?/);
  await page.context().close();
});

test('a press that comes before the script waits for it', async () => {
  const page = await stage.visit(form);
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await page.route('**/f/assets/start-*', async (route) => {
    await held;
    await route.continue();
  });
  await page.evaluate('sessionStorage.clear()');
  await page.goto(page.url());
  await pressButton(page, 'Next');
  assert.equal(await page.getByRole('alert').count(), 0);
  letGo();
  await page.getByRole('alert').waitFor();
  await wake(page);
  await page.context().close();
});
