import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { describeFields } from './describe.ts';

test('metadata.fields has the label, type and required flag of every input', () => {
  const form = formOf(
    element('heading', 'intro'),
    element('email', 'mail', { required: true }),
    composite('address', [element('text', 'street')]),
    composite('people', [element('text', 'name', { required: true })], { repeatable: true }),
  );
  assert.deepEqual(describeFields(form), {
    mail: { label: 'The mail', type: 'email', required: true },
    street: { label: 'The street', type: 'text', required: false },
    people: { label: 'The people', type: 'composite', required: false },
    name: { label: 'The name', type: 'text', required: true },
  });
});
