import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isComposite, isRepeatable, walkElements } from '#ast/tree.ts';
import { validateStructure } from '#ast/validate.ts';
import { templates } from './templates.ts';

test('there is a blank form and a handful of templates, each named once', () => {
  const ids = templates.map(({ id }) => id);
  assert.deepEqual(ids, ['blank', 'contact', 'event-registration', 'job-application', 'feedback', 'order']);
});

for (const { id, structure } of templates) {
  test(`the template ${id} is a valid form, ready to be published`, () => {
    assert.deepEqual(validateStructure(structure), { ok: true, form: structure });
    assert.ok(structure.attrs.name);
    assert.equal([...walkElements(structure)].length > 4, id !== 'blank');
  });
}

test('an order has a row for each item', () => {
  const order = templates.find(({ id }) => id === 'order')!.structure;
  const groups = [...walkElements(order)]
    .map(({ element }) => element)
    .filter((element) => isComposite(element));
  assert.deepEqual(groups.map(isRepeatable), [true]);
});
