import assert from 'node:assert/strict';
import { test } from 'node:test';
import { templates } from '../templates/templates.ts';
import { findJsonNodes, formatPath } from './json-positions.ts';
import { readPastedForm } from './read-pasted-form.ts';

const problemsOf = (text: string) => {
  const read = readPastedForm(text);
  assert.ok(!read.ok);
  return read.problems.map(({ message, where, place }) => ({
    message,
    where,
    line: place?.line,
    text: place && text.slice(place.start, place.end),
  }));
};

test('a form is read in the format of the API and of an export', () => {
  const { structure } = templates[1]!;
  assert.deepEqual(readPastedForm(JSON.stringify(structure)), { ok: true, structure });
  const settings = { confirmation_message: 'Thanks' };
  assert.deepEqual(readPastedForm(JSON.stringify({ structure, settings })), {
    ok: true,
    structure,
    settings,
  });
});

test('settings are checked like those of the API', () => {
  const { structure } = templates[1]!;
  const settings = { theme: { color: 'red;}*{display:none' }, colour: 'red' };
  const problems = problemsOf(JSON.stringify({ structure, settings }));
  assert.deepEqual(
    problems.map(({ where }) => where),
    ['Settings', 'Settings'],
  );
  assert.match(problems[0]!.message, /theme\.color/);
  assert.match(problemsOf(JSON.stringify({ structure, settings: 'none' }))[0]!.message, /must be an object/);
});

test('each problem is located in the form and in the text', () => {
  const text = `{
  "type": "form", "attrs": {"name": "F"},
  "children": [
    {"type": "step", "attrs": {"note": "a \\" } ] quote"}, "children": [
      {"type": "text", "attrs": {"id": "a", "label": "A"}, "children": []},
      {"type": "text", "attrs": {"id": "a", "label": "B"}}
    ]}
  ]
}`;
  const [problem] = problemsOf(text);
  assert.equal(problem!.where, 'Step 1, element 2');
  assert.equal(problem!.line, 6);
  assert.equal(problem!.text, '{"type": "text", "attrs": {"id": "a", "label": "B"}}');
});

test('a problem in an exported form is located below "structure"', () => {
  const text =
    '{"settings": {"children": [{}]},\n"structure":\n{"type": "form", "attrs": {"name": "F"}, "children": [\n{"type": "step", "children": [{"type": "text"}]}]}}';
  const found = problemsOf(text);
  assert.ok(found.length > 0);
  for (const { where, line, text: part } of found)
    assert.deepEqual([where, line, part], ['Step 1, element 1', 4, '{"type": "text"}']);
});

test('a problem of the root is located at the root', () => {
  const [first] = problemsOf('\n{"type": "form", "attrs": {}, "children": []}');
  assert.deepEqual([first!.where, first!.line], ['Form', 2]);
});

test('invalid JSON is located at its first error', () => {
  const [problem] = problemsOf('{"type": "form",\n "attrs" {}}');
  assert.deepEqual([problem!.where, problem!.line], ['JSON', 2]);
  for (const text of ['', ' \uFEFF\n'])
    assert.equal(problemsOf(text)[0]!.message, 'Paste or write your questions first.');
  assert.equal(problemsOf('[1, 2')[0]!.line, 1);
});

test('JSON that is not a form gets an error message', () => {
  for (const text of ['[]', '{}']) assert.ok(problemsOf(text).length > 0, text);
});

test('a path is shown with counts from 1', () => {
  assert.deepEqual(
    [formatPath([]), formatPath([0]), formatPath([1, 2]), formatPath([1, 2, 0])],
    ['Form', 'Step 1', 'Step 2, element 3', 'Step 2, element 3, child 1'],
  );
});

test('a path is found after braces and quotes in strings, numbers, spaces and empty lists', () => {
  const text =
    '{ "note": "}\\"]{", "n": [1, {"children": []}, -2.5], "children" : [ {"children":[]} , {"x": true,"children":[ null,{"type":"here"} ]} ] }';
  const places = findJsonNodes(text);
  assert.equal(text.slice(places.get('1.1')!.start), '{"type":"here"} ]} ] }');
  assert.equal(places.get('0.0'), undefined);
  assert.equal(places.get('5'), undefined);
});

test('an export of another service is distinguished from an invalid Formloom form', () => {
  const document = { fields: [{ type: 'short_text', title: 'Name' }] };
  assert.deepEqual(readPastedForm(JSON.stringify(document)), { ok: true, foreign: { document } });
  for (const text of ['{"type":"form","children":[]}', '{"children":[]}', '{"structure":{}}', '{"a":1}'])
    assert.ok(problemsOf(text).length > 0, text);
});

test('a text that is not JSON is for the server, with the format that a person chose', () => {
  for (const text of ['Name', 'Name,Email', '1', '"x"', '[ ] Loom\n[x] Wheel'])
    assert.deepEqual(readPastedForm(text), { ok: true, foreign: { text } });
  assert.deepEqual(readPastedForm('a,b', 'csv'), { ok: true, foreign: { text: 'a,b', source: 'csv' } });
});
