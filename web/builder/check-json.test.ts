import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, structure } from '#test/ast/forms.ts';
import { checkJson } from './check-json.ts';

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);

test('a valid form can be applied and has no problems', () => {
  const checked = checkJson(pretty(structure(element('text', 'a'))));
  assert.ok(checked.root);
  assert.deepEqual(checked.problems, []);
});

test('an incomplete form can be applied, and each problem names its position and links to it', () => {
  const text = pretty(
    structure(element('text', 'a'), composite('g', [{ type: 'text', attrs: { id: 'b' }, children: [] }])),
  );
  const { root, problems } = checkJson(text);
  assert.ok(root);
  assert.equal(problems.length, 1);
  assert.equal(problems[0]!.where, 'Step 1, element 2, child 1:');
  assert.match(text.slice(problems[0]!.offset), /^\{\s*"type": "text",\s*"attrs": \{\s*"id": "b"/);
});

test('JSON that is not a form cannot be applied', () => {
  const { root, problems } = checkJson('{"type":"form","attrs":{},"children":[{"type":"text"}]}');
  assert.equal(root, undefined);
  assert.deepEqual(
    problems.map(({ where }) => where),
    ['Step 1:'],
  );
});

test('invalid JSON is reported with its line', () => {
  const { root, problems } = checkJson('{\n  "type": "form",\n  "attrs": {,\n}');
  assert.equal(root, undefined);
  assert.equal(problems[0]!.where, 'Line 3:');
});
