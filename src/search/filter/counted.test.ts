import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import type { SummaryBar } from './summary-bar.ts';

/*
 * The list of submissions finds what a bar of the summary counts, even if the form language has no condition
 * for it.
 */
const service = await shareService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const form = await makeForm(tenant, [
  element('ranking', 'order', { options: ['Tea', 'Milk', 'Soup'] }),
  element('file_upload', 'photo', { max_files: 3 }),
  composite(
    'guests',
    [element('text', 'guest'), element('number', 'age'), element('yes_no', 'vegan'), element('text', 'note')],
    { repeatable: true },
  ),
  element('text', 'name'),
]);
const guests = (...rows: object[]) => rows.map((row) => ({ guest: 'X', ...row }));
const people = {
  Ada: { order: ['Milk', 'Tea', 'Soup'], guests: guests({ guest: ' tom ', age: 4 }) },
  Ben: { order: ['Tea', 'Milk', 'Soup'], guests: guests({ vegan: true }, { guest: 'Tom', age: 30 }, {}) },
  Cleo: { order: ['Soup', 'Milk', 'Tea'] },
};
for (const [name, answers] of Object.entries(people))
  assert.equal((await visitor.submit(form.id, { name, ...answers })).status, 201);
const gif = new File([Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64')], 'a.gif', {
  type: 'image/gif',
});
const text = new File(['Words.'], 'a.txt', { type: 'text/plain' });
assert.equal(
  (
    await visitor.post(form.id, [
      ['name', 'Dora'],
      ['photo', gif],
      ['photo', text],
    ])
  ).status,
  303,
);

const list = (counted: unknown, more = '') =>
  tenant.call(
    'GET',
    `/forms/${form.id}/submissions?sort=oldest&counted=${encodeURIComponent(JSON.stringify(counted))}${more}`,
  );
const where = `&where=${encodeURIComponent(JSON.stringify({ element: 'name', is: 'equals', value: 'Ben' }))}`;

const scenarios: readonly (readonly [counted: SummaryBar, found: readonly string[]])[] = [
  [{ element: 'order', by: 'first', value: 'Milk' }, ['Ada']],
  [{ element: 'photo', by: 'file', value: 'Images' }, ['Dora']],
  [{ element: 'photo', by: 'file', value: 'PDF' }, []],
  [{ element: 'guests', by: 'rows', from: 1, to: 1 }, ['Ada']],
  [{ element: 'guests', by: 'rows', from: 1, to: 3 }, ['Ada', 'Ben']],
  [{ element: 'guest', by: 'text', value: 'Tom' }, ['Ada', 'Ben']],
  [{ element: 'age', by: 'span', from: 10, to: 30 }, ['Ben']],
  [{ element: 'vegan', by: 'option', value: true }, ['Ben']],
  [{ element: 'guest', by: 'answered' }, ['Ada', 'Ben']],
  [{ element: 'note', by: 'answered' }, []],
];
for (const [counted, found] of scenarios) {
  test(`the list finds the submissions of a bar: ${JSON.stringify(counted)}`, async () => {
    const { status, body } = await list(counted);
    assert.equal(status, 200, JSON.stringify(body));
    const names = (of: typeof body) => of.data.map(({ answers }) => (answers as { name: string }).name);
    assert.deepEqual(names(body), found);
    assert.deepEqual(
      names((await list(counted, where)).body),
      found.filter((name) => name === 'Ben'),
    );
  });
}

const refused = [
  'x',
  [],
  { element: 'order' },
  { element: 'unknown', by: 'answered' },
  { element: 'guest', by: 'rows', from: 1, to: 1 },
  { element: 'photo', by: 'file', value: 'Paper' },
  { element: 'guest', by: 'text', value: '\u0000' },
];
for (const counted of refused) {
  test(`a value without a bar is rejected: ${JSON.stringify(counted)}`, async () => {
    const { status, body } = await list(counted);
    assert.deepEqual([status, body.error, body.errors[0]!.field], [400, 'bad_request', 'counted']);
  });
}
