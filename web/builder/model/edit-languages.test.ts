import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listTexts } from '#ast/texts.ts';
import { element } from '#test/ast/forms.ts';
import { listFormDifferences } from './compare.ts';
import { changeType, setAttribute, setId, setOptions } from './edit.ts';
import { type EditNode, parseEditableTree, textOf, toStructure, walkNodes } from './edit-node.ts';
import { setLanguages, setTranslation, updateSettingReferences } from './edit-steps.ts';
import { idsOf } from './element-ids.ts';
import { findProblems } from './form-problems.ts';
import { newPaletteNode } from './new-element.ts';

const read = (): EditNode => {
  const result = parseEditableTree({
    type: 'form',
    attrs: { name: 'Sample', languages: ['en', 'de'] },
    children: [
      {
        type: 'step',
        attrs: {},
        children: [
          element('text', 'name', { label: 'Name' }),
          element('radio', 'colour', {
            label: 'Colour for {{name}}',
            translations: { de: { label: 'Farbe für {{name}}', options: { Red: 'Rot', Blue: 'Blau' } } },
          }),
        ],
      },
    ],
  });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.root;
};
const byId = (root: EditNode, id: string): EditNode =>
  [...walkNodes(root)].find((node) => textOf(node, 'id') === id)!;
const translationsOf = (root: EditNode, id: string): unknown => byId(root, id).attrs['translations'];

test('a text of the form or its settings can be translated, and its translation removed', () => {
  const root = read();
  const settings = { closed_message: 'Closed' };
  const textOfKey = (key: string) =>
    listTexts({ structure: toStructure(root), settings }).find((text) => text.key === key)!;
  const translated = setTranslation({ root, settings }, textOfKey('name/label'), 'de', 'Ihr Name');
  assert.deepEqual(translationsOf(translated.root, 'name'), { de: { label: 'Ihr Name' } });
  const [difference] = listFormDifferences(root, translated.root);
  assert.deepEqual(difference?.details, ['Translations: de (1 text)']);
  const cleared = setTranslation(translated, textOfKey('name/label'), 'de', ' ');
  assert.equal(translationsOf(cleared.root, 'name'), undefined);
  const closed = setTranslation({ root, settings }, textOfKey('$settings/closed_message'), 'de', 'Zu');
  assert.deepEqual(closed.settings, { ...settings, translations: { de: { closed_message: 'Zu' } } });
});

test('translations follow rewritten options, and are removed with deleted options, another type or their language', () => {
  const root = read();
  const { key } = byId(root, 'colour');
  const renamed = setOptions(root, key, ['Crimson', 'Green', 'Blue']);
  assert.deepEqual(translationsOf(renamed, 'colour'), {
    de: { label: 'Farbe für {{name}}', options: { Crimson: 'Rot', Blue: 'Blau' } },
  });
  const fewer = setOptions(root, key, ['Red']);
  assert.deepEqual(findProblems(fewer), []);
  assert.deepEqual(findProblems(changeType(root, key, 'text')), []);
  const { root: english, settings } = setLanguages(
    { root, settings: { translations: { de: { closed_message: 'Zu' } } } },
    ['en'],
  );
  assert.deepEqual([translationsOf(english, 'colour'), settings], [undefined, {}]);
  const email = { to: { answer: 'mail' }, subject: 'Hi' };
  const emails = { notifications: [{ ...email, translations: { de: { subject: 'Hallo' } } }] };
  assert.deepEqual(setLanguages({ root, settings: emails }, ['en']).settings, { notifications: [email] });
  assert.deepEqual(findProblems(english), []);
  const french = setLanguages({ root, settings: {} }, ['en', 'de', 'fr']).root;
  assert.deepEqual(translationsOf(french, 'colour'), translationsOf(root, 'colour'));
});

test('answers shown in translated texts follow the new id of their element', () => {
  const root = read();
  const renamed = setId(root, byId(root, 'name').key, 'full_name');
  assert.deepEqual(findProblems(renamed), []);
  assert.match(JSON.stringify(translationsOf(renamed, 'colour')), /Farbe für \{\{full_name\}\}/);
  const settings = { translations: { de: { confirmation_message: 'Danke, {{name}}' } } };
  assert.deepEqual(updateSettingReferences(root, renamed, settings), {
    translations: { de: { confirmation_message: 'Danke, {{full_name}}' } },
  });
  const answered = (id: string) => ({
    reply_to: { answer: id },
    subject: `{{${id}}}`,
    message: '{{answers}}',
  });
  assert.deepEqual(
    updateSettingReferences(root, renamed, {
      receipt: answered('name'),
      notifications: [{ to: 'a@b.co', ...answered('name'), translations: { de: { subject: '{{name}}' } } }],
    }),
    {
      receipt: answered('full_name'),
      notifications: [
        { to: 'a@b.co', ...answered('full_name'), translations: { de: { subject: '{{full_name}}' } } },
      ],
    },
  );
  const broken = setAttribute(root, byId(root, 'name').key, 'label', 'Other');
  assert.deepEqual(findProblems(broken), []);
});

test('a name and an address are groups with browser autofill and unique ids', () => {
  for (const entry of ['full_name', 'address'] as const) {
    const node = newPaletteNode(entry, new Set(['city', 'given_name', 'address']));
    const root = read();
    const step = root.children[0]!;
    const form = { ...root, children: [{ ...step, children: [...step.children, node] }] };
    assert.deepEqual(findProblems(form), []);
    assert.equal(idsOf(node).size, node.children.length + 1);
    assert.equal(idsOf(node).isDisjointFrom(new Set(['city', 'given_name', 'address'])), true);
    assert.ok(node.children.every((part) => typeof part.attrs['autocomplete'] === 'string'));
  }
});
