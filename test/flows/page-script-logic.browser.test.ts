import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatNumber } from '#ast/rules/written-numbers.ts';
import { cases, isSlice } from '#test/cases.ts';
import { calculatedForm } from '../ast/calculated-form.ts';
import { composite, element } from '../ast/forms.ts';
import { companySteps, step } from './page-script-form.ts';
import {
  errorOf,
  field,
  fillFirstStep,
  headingHasFocus,
  pressButton,
  stage,
  wake,
} from './page-script-stage.ts';

/* Logic during typing, custom answers, and a script that is late or missing. */
const form = await stage.publish(companySteps);

test('logic: an answer shows and hides questions immediately, and hidden ones are not sent', async () => {
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
  await stage.browser.leave(page);
});

test('a step without visible questions is skipped immediately in both directions and not counted', {
  skip: isSlice,
}, async () => {
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
  await stage.browser.leave(page);
});

test('options follow the answers they depend on; losing a choice is announced, and it returns with its option', async () => {
  const inCountry = (value: string) => ({ show_when: { element: 'country', is: 'equals', value } });
  const cities = ['DE', 'FR'].flatMap((country) =>
    [1, 2].map((number) => ({
      id: `${country}${number}`,
      label: `${country} ${number}`,
      ...inCountry(country),
    })),
  );
  const trip = await stage.publish([
    step('One', [
      element('dropdown', 'country', { options: ['DE', 'FR', 'US'] }),
      element('radio', 'city', { options: cities }),
      element('dropdown', 'second', { options: ['Home', ...cities] }),
      composite(
        'stays',
        [element('text', 'guest'), element('multiple_choice', 'beds', { options: ['Any', ...cities] })],
        {
          repeatable: true,
        },
      ),
    ]),
  ]);
  const page = await stage.visit(trip);
  const open = async (name: string): Promise<string[]> => {
    const controls = await page.locator(`[name="${name}"]:not(:disabled):visible`).all();
    return (await Promise.all(controls.map((control) => control.inputValue()))).filter(Boolean);
  };
  assert.deepEqual(await open('city'), []);
  await field(page, 'country').selectOption('DE');
  assert.deepEqual(await open('city'), ['DE1', 'DE2']);
  await page.getByRole('radio', { name: 'DE 2' }).check();
  await field(page, 'second').selectOption('DE1');
  await page.locator('[name="stays[0][guest]"]').fill('Ada');
  await page.getByRole('checkbox', { name: 'DE 1' }).check();
  await page.locator('[name=_add]').click();
  await page.locator('[name="stays[1][beds]"][value="DE2"]').check();
  await field(page, 'country').selectOption('FR');
  assert.deepEqual(await open('city'), ['FR1', 'FR2']);
  assert.deepEqual(await open('stays[1][beds]'), ['Any', 'FR1', 'FR2']);
  assert.equal(await field(page, 'second').inputValue(), '');
  assert.match(await errorOf(page, 'second').innerText(), /“DE 1” isn’t available with your other answers/);
  assert.equal(await page.locator('[name=city]:checked').count(), 0);
  await field(page, 'country').selectOption('DE');
  assert.equal(await field(page, 'second').inputValue(), 'DE1', 'it is kept while one tries');
  assert.equal(await errorOf(page, 'second').innerText(), '');
  await field(page, 'country').selectOption('FR');
  await page.getByRole('radio', { name: 'FR 1' }).check();
  await field(page, 'country').selectOption('US');
  assert.deepEqual(await open('city'), []);
  assert.equal(await page.locator('#city').isVisible(), false, 'nothing is to be chosen');
  await field(page, 'country').selectOption('FR');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  const [newest] = await stage.submissions(trip);
  assert.deepEqual(newest?.answers, { country: 'FR', city: 'FR1', stays: [{ guest: 'Ada' }] });
  await stage.browser.leave(page);
});

test('a rule between two questions is checked on leaving, and changing either answer resolves it', async () => {
  const rule = { element: 'end', is: 'after', other: 'start' };
  const own = await stage.publish([
    step('One', [
      element('time', 'start'),
      element('time', 'end', { valid_when: rule, error_message: 'End must be after start.' }),
      element('text', 'note', { show_when: rule }),
    ]),
  ]);
  const page = await stage.visit(own);
  await field(page, 'start').fill('12:00');
  await field(page, 'end').fill('11:00');
  await field(page, 'start').focus();
  await errorOf(page, 'end').getByText('End must be after start.').waitFor();
  assert.equal(await field(page, 'note').isVisible(), false);
  await pressButton(page, 'Submit');
  await page.locator('.summary').getByText('The end: End must be after start.').waitFor();
  await field(page, 'start').fill('10:00');
  assert.equal(await errorOf(page, 'end').innerText(), '');
  assert.equal(await page.locator('.summary').count(), 0);
  assert.equal(await field(page, 'note').isVisible(), true);
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  const [newest] = await stage.submissions(own);
  assert.deepEqual(newest?.answers, { start: '10:00', end: '11:00' });
  await stage.browser.leave(page);
});

test('"Other" opens a field for a custom answer and closes it when another option is chosen', async () => {
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
  await stage.browser.leave(page);
});

test('if the script fails, the browser itself posts the form', async () => {
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
  await page.close();
  await stage.browser.leave(visited);
});

test('losing the network before the first interaction shows a message and loses nothing, because the page has preloaded its script', async () => {
  const files = await stage.publish(
    [
      step('Who', [element('text', 'name'), element('file_upload', 'photo')]),
      step('End', [element('text', 'note')]),
    ],
    { proof_of_work: true },
  );
  const page = await stage.browser.open('/healthz');
  await page.goto(`${stage.service.url}/f/${files.id}`, { waitUntil: 'networkidle' });
  await page.locator('[aria-live=polite]').waitFor({ state: 'attached' });
  await page.context().setOffline(true);
  const notice = page.locator('form').getByText('You’re offline.');
  await notice.waitFor();
  await pressButton(page, 'Next');
  await page.getByRole('heading', { name: 'End', level: 2 }).waitFor();
  await pressButton(page, 'Submit');
  await page.getByRole('alert').getByText('Your answers couldn’t be sent').waitFor();
  await page.context().setOffline(false);
  await notice.waitFor({ state: 'detached' });
  await pressButton(page, 'Send again');
  await page.waitForURL(/\/submitted\?/);
  await stage.browser.leave(page);
});

test('a button pressed before the script has loaded waits for it', async () => {
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
  await stage.browser.leave(page);
});

test('results update immediately with answers and rows, are announced after a pause, and match what the server stores', async () => {
  const order = await stage.publish([
    step('Order', [
      composite(
        'items',
        [
          element('number', 'price'),
          element('number', 'pieces'),
          element('calculation', 'line', { formula: '{price} * {pieces}', decimals: 2, prefix: '€ ' }),
        ],
        { repeatable: true },
      ),
      element('calculation', 'total', { formula: 'sum({line})', decimals: 2, prefix: '€ ' }),
      element('text', 'why', { show_when: { element: 'total', is: 'greater_than', value: 50 } }),
      element('calculation', 'secret', { formula: '{total} * 2', hidden: true }),
    ]),
  ]);
  const page = await stage.visit(order);
  const total = page.locator('output#total');
  assert.equal(await total.textContent(), '–');
  await field(page, 'items[0][price]').fill('19.99');
  await field(page, 'items[0][pieces]').fill('3');
  assert.equal(await total.textContent(), '€ 59.97');
  assert.equal(await field(page, 'why').isVisible(), true);
  await page.locator('[aria-live=polite]', { hasText: 'The total: € 59.97' }).waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Add another' }).click();
  assert.equal(await page.locator('[id="items[1][line]"]').textContent(), '–');
  await field(page, 'items[1][price]').fill('0.1');
  await field(page, 'items[1][pieces]').fill('3');
  assert.equal(await total.textContent(), '€ 60.27');
  assert.equal(await page.getByText('The secret').isVisible(), false);
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  assert.deepEqual((await stage.submissions(order))[0]?.answers, {
    items: [
      { price: 19.99, pieces: 3, line: 59.97 },
      { price: 0.1, pieces: 3, line: 0.3 },
    ],
    total: 60.27,
    secret: 120.54,
  });
  await stage.browser.leave(page);
});

test('a batch of random formulas gives equal results in a browser and on the server', {
  skip: isSlice,
}, async () => {
  const forms = fc.sample(calculatedForm, { numRuns: cases(40), seed: 7 });
  for (const { nodes, answers } of forms) {
    const random = await stage.publish([step('Random', nodes)]);
    const { items: rows, ...plain } = answers;
    const query = new URLSearchParams();
    for (const [id, value] of Object.entries(plain))
      for (const one of [value].flat()) query.append(id, String(one));
    for (const [index, row] of ((rows ?? []) as object[]).entries())
      for (const [id, value] of Object.entries(row)) query.append(`items[${index}][${id}]`, String(value));
    const page = await stage.visit(random, { query: `?${query.toString()}` });
    const shown = await page.evaluate<[string, string][]>(
      `[...document.querySelectorAll('output')].map(({ id, textContent }) => [id, textContent])`,
    );
    await pressButton(page, 'Submit');
    await page.waitForURL(/\/submitted\?/);
    const stored = (await stage.submissions(random))[0]!.answers;
    const said = (id: string, decimals?: number): string =>
      typeof stored[id] === 'number'
        ? formatNumber(stored[id], 'en', decimals === undefined ? {} : { decimals })
        : '–';
    assert.deepEqual(
      shown.filter(([id]) => /^c\d$/.test(id)),
      [
        ['c0', said('c0')],
        ['c1', said('c1')],
        ['c2', said('c2', 2)],
        ['c3', said('c3', 3)],
      ],
    );
    await stage.browser.leave(page);
  }
});

test('questions that the link answers are skipped, conditions use their answers, and an error shows them again', {
  skip: isSlice,
}, async () => {
  const form = await stage.publish(
    [
      step('You', [
        element('text', 'name', { required: true }),
        element('email', 'email', { required: true, unique: true }),
      ]),
      step('Trip', [
        element('radio', 'meal', { options: ['Lunch', 'Dinner'] }),
        element('text', 'allergy', { show_when: { element: 'meal', is: 'equals', value: 'Lunch' } }),
      ]),
      step('End', [element('text', 'notes')]),
    ],
    { skip_prefilled: true },
  );
  const query = '?name=Ada&email=ada@example.com&meal=Lunch';
  for (const expected of ['accepted', 'refused']) {
    const page = await stage.visit(form, { query });
    await page.getByRole('heading', { name: 'Trip', level: 2 }).waitFor();
    assert.equal(await page.getByText('The meal').isVisible(), false);
    await field(page, 'allergy').fill('Nuts');
    await pressButton(page, 'Next');
    await page.getByRole('heading', { name: 'End', level: 2 }).waitFor();
    await pressButton(page, 'Submit');
    if (expected === 'accepted') await page.waitForURL(/submitted/);
    else {
      await page.getByRole('alert').getByText('email').waitFor();
      assert.equal(await field(page, 'email').inputValue(), 'ada@example.com');
      assert.equal(await page.locator('[name=name]').count(), 0);
    }
    await page.context().close();
  }
  const [{ answers }] = (await stage.submissions(form)) as unknown as [{ answers: object }];
  assert.deepEqual(answers, { name: 'Ada', email: 'ada@example.com', meal: 'Lunch', allergy: 'Nuts' });
});
