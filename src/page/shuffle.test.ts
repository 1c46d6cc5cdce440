import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Form } from '#ast/form/tree.ts';
import { composite, element, formOf, stepsOf } from '#test/ast/forms.ts';
import { openPaper, type Paper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService } from '#test/service.ts';
import { shuffleForm } from './visit/shuffle-form.ts';

/** Options and questions in each visitor's order. */

const service = await shareService();
const tenant = await service.makeTenant();

const letters = Array.from('abcdefghijklmnop');
const choices = { options: letters, shuffle: true };
const shuffled = stepsOf(
  { title: 'One', shuffle: true },
  [
    element('text', 'first'),
    element('paragraph', 'between'),
    ...letters.map((id) => element('text', `q${id}`)),
    element('radio', 'choice', { ...choices, other: true }),
  ],
  { title: 'Two' },
  [element('ranking', 'order', choices), element('dropdown', 'fixed', { options: letters })],
);
const optionsOf = ({ tags }: Paper, name: string): string[] =>
  tags.flatMap(({ tag, attrs }) =>
    attrs['name'] === name && (tag === 'input' || tag === 'select') && attrs['value'] ? [attrs['value']] : [],
  );
const questionsOf = ({ tags }: Paper): string[] =>
  tags.flatMap(({ tag, attrs }) =>
    tag === 'input' && /^(first|q.)$/.test(attrs['name'] ?? '') ? [attrs['name']!] : [],
  );

test('the order is the same when the page is opened again and on every post, and differs between browsers', async () => {
  const form = await publishForm(tenant, shuffled);
  const first = await openPaper(service, `/f/${form}`);
  const again = await openPaper(service, `/f/${form}`);
  const [options, questions] = [optionsOf(first, 'choice').slice(0, letters.length), questionsOf(first)];
  assert.deepEqual(options.toSorted(), letters);
  assert.notDeepEqual(options, letters);
  assert.equal(questions.length, 17);
  assert.notDeepEqual(questions, questions.toSorted());
  assert.deepEqual([optionsOf(again, 'choice'), questionsOf(again)], [optionsOf(first, 'choice'), questions]);

  const second = await first.press('next', { choice: 'c', first: 'Ada' });
  const back = await second.press('back');
  assert.deepEqual([optionsOf(back, 'choice'), questionsOf(back)], [optionsOf(first, 'choice'), questions]);
  const { answers } = await submissionOf(tenant, await (await back.press('next')).press('submit'));
  assert.deepEqual([answers['choice'], answers['first']], ['c', 'Ada']);

  const other = await fetch(`${service.url}/f/${form}`, {
    headers: { 'User-Agent': 'Mozilla/5.0 (another)' },
  });
  const text = await other.text();
  const positions = options.map((option) => text.indexOf(`name="choice" value="${option}"`));
  assert.ok(positions.every((position) => position > 0));
  assert.notDeepEqual(
    positions,
    positions.toSorted((one, another) => one - another),
  );
});

test('columns, exports and summaries keep the order of the form', async () => {
  const form = await publishForm(tenant, shuffled);
  const { body } = await tenant.call('GET', `/forms/${form}/columns`);
  const columns = (body as unknown as { data: { id: string; options: string[] }[] }).data;
  assert.deepEqual(
    columns.slice(0, 3).map(({ id }) => id),
    ['first', 'qa', 'qb'],
  );
  assert.deepEqual(columns.find(({ id }) => id === 'choice')?.options, letters);
});

test('texts keep their places, and options without shuffle their order', () => {
  const form = shuffled as Form;
  const { children } = shuffleForm(form, 'seed');
  assert.equal(children[0]!.children[1]!.type, 'paragraph');
  assert.deepEqual(
    children[1]!.children.map(({ attrs }) => attrs?.id),
    ['order', 'fixed'],
  );
  assert.deepEqual(children[1]!.children[1], form.children[1]!.children[1]);
});

test('a question comes after the questions that its condition and its texts use', () => {
  const form = formOf(
    element('yes_no', 'smokes'),
    composite('home', [element('text', 'city')]),
    element('number', 'daily', { show_when: { element: 'smokes', is: 'equals', value: true } }),
    element('number', 'least'),
    element('number', 'most', { show_when: { element: 'daily', is: 'less_than', other: 'least' } }),
    element('text', 'since', { label: 'Since when do you smoke {{ daily }}?' }),
    element('radio', 'place', {
      options: ['a', { id: 'b', label: 'B', show_when: { element: 'city', is: 'answered' } }],
    }),
  );
  const shuffledForm = { ...form, children: [{ ...form.children[0]!, attrs: { shuffle: true } }] } as Form;
  const orders = new Set<string>();
  for (let seed = 0; seed < 200; seed += 1) {
    const { children } = shuffleForm(shuffledForm, String(seed)).children[0]!;
    const ids = children.map(({ attrs }) => attrs?.id);
    orders.add(ids.join());
    const isSorted = (...some: string[]) =>
      assert.deepEqual(
        ids.filter((id) => some.includes(id!)),
        some,
        ids.join(),
      );
    isSorted('smokes', 'daily', 'since');
    isSorted('home', 'place');
    isSorted('least', 'most');
  }
  assert.ok(orders.size > 5);
});

test('every order of three options is about as frequent', () => {
  const form = formOf(element('radio', 'choice', { options: ['a', 'b', 'c'], shuffle: true }));
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 1_200; seed += 1) {
    const order = JSON.stringify(shuffleForm(form, String(seed)).children[0]!.children[0]!.attrs);
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  assert.equal(counts.size, 6);
  assert.ok(Math.min(...counts.values()) > 140, [...counts.values()].join());
});
