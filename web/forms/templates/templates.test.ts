import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import { walkElements } from '#ast/form/tree.ts';
import { checkSettings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { newFormSettings } from '../create/new-form-settings.ts';
import { prepareTemplate, searchTextOf, templates } from './templates.ts';

test('there is a blank form and at least fifteen templates with unique names', () => {
  const [first, ...others] = templates;
  assert.equal(first?.id, 'blank');
  assert.ok(others.length >= 15);
  for (const name of ['id', 'title', 'description'] as const)
    assert.equal(new Set(templates.map((template) => template[name])).size, templates.length);
});

for (const { id, structure, settings } of templates) {
  test(`the template ${id} is a valid form with valid settings, ready to be published`, () => {
    assert.deepEqual(validateStructure(structure), { ok: true, form: structure });
    const all = { ...newFormSettings(), ...settings };
    assert.deepEqual(checkSettings(all, structure), { ok: true, settings: all, errors: [] });
    assert.equal([...walkElements(structure)].length > 3, id !== 'blank');
    assert.equal(settings?.confirmation_message !== undefined, id !== 'blank');
  });
}

test('together, the templates use every rating, consent, calculation and other special type', () => {
  const used = new Set(
    templates.flatMap(({ structure }) => [...walkElements(structure)].map((at) => at.element.type)),
  );
  for (const type of [
    'rating',
    'scale',
    'ranking',
    'matrix',
    'signature',
    'consent',
    'hidden',
    'calculation',
    'rich_text',
    'picture_choice',
    'image',
  ] as const)
    assert.ok(used.has(type), type);
});

const answersOf = (wanted: string, raw: object) =>
  checkAnswers(templates.find(({ id }) => id === wanted)!.structure, raw, new Map(), {
    reference: {},
    today: '2026-11-23',
    work: createWorkBudget(),
  });

test('each picture of a template is uploaded once and referenced by its new id', async () => {
  const named = async (wanted: string) => {
    const uploaded: string[] = [];
    const begun = await prepareTemplate(templates.find(({ id }) => id === wanted)!, async (address) => {
      assert.match(await readFile(new URL(address), 'utf8'), /^<svg /);
      return `new-${uploaded.push(address)}`;
    });
    return { uploaded: uploaded.length, begun: JSON.stringify(begun) };
  };
  for (const [id, count] of [
    ['contact', 0],
    ['rsvp', 1],
    ['volunteer-shifts', 1],
    ['quiz', 3],
    ['order', 3],
  ] as const) {
    const { uploaded, begun } = await named(id);
    assert.equal(uploaded, count, id);
    assert.equal(begun.match(/"new-\d"/g)?.length ?? 0, count, id);
    assert.doesNotMatch(begun, /00000000-/, id);
  }
});

test('an order form adds up its rows and the delivery', () => {
  const items = [
    { article: 'scarf', quantity: 2, pattern: ['checks'] },
    { article: 'cushion', quantity: 1, pattern: ['stripes'] },
  ];
  const result = answersOf('order', { items, delivery: 'fetch', name: 'Anni', email: 'anni@example.com' });
  assert.equal(result.ok && result.answers['total'], 106.5);
});

test('a quiz adds a point for a right choice, subtracts one for a wrong choice, and never drops below zero', () => {
  const wrong = { warp: 'The weft', twill: ['a'], jacquard: 'Rolls of music', plants: ['silk', 'wool'] };
  const right = { warp: 'warp', twill: ['b'], jacquard: 'cards', plants: ['linen', 'hemp'] };
  for (const [raw, score] of [
    [right, 5],
    [{ ...right, plants: ['linen', 'silk'] }, 3],
    [wrong, 0],
  ] as const) {
    const result = answersOf('quiz', raw);
    assert.equal(result.ok && result.answers['score'], score);
  }
});

test('templates are found by their names and questions', () => {
  const found = (word: string) =>
    templates.filter((template) => searchTextOf(template).includes(word)).map(({ id }) => id);
  for (const [word, id] of [
    ['nps', 'recommendation'],
    ['signature', 'waiver'],
    ['stars', 'feedback'],
    ['utm', 'contact'],
    ['cv', 'job-application'],
    ['german', 'satisfaction'],
  ] as const)
    assert.ok(found(word).includes(id), word);
  assert.deepEqual(found('nothing like it'), []);
});
