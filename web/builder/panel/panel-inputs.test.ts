import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ElementType, elementDefinitions, stepAttributes } from '#ast/form/elements.ts';
import { parseTimeLimit } from '../../conditions/condition-tree.ts';
import { readNumber } from '../../design/read-number.ts';
import {
  blankOption,
  handleOptionKey,
  optionsFromLines,
  pasteOptionList,
  relabelOption,
} from '../model/options-text.ts';
import { parseFileTypes } from './parse-file-types.ts';
import { groupAttributesBySection, panelSections } from './sections.ts';

const numbers: readonly [text: string, isWhole: boolean, number: number | undefined][] = [
  ['3', true, 3],
  ['2.5', true, undefined],
  ['2,5', false, 2.5],
  ['-0.1', false, -0.1],
  ['-', false, undefined],
  ['1.', false, undefined],
  ['1e5', false, undefined],
];
for (const [text, isWhole, number] of numbers) {
  test(`“${text}” as a ${isWhole ? 'whole ' : ''}number is ${number ?? 'none'}`, () => {
    assert.equal(readNumber(text, isWhole), number);
  });
}

test('a date limit is either fixed or a number of days from today', () => {
  assert.deepEqual(['', '2026-01-31', 'today', 'today-18', 'today+30', 'todays'].map(parseTimeLimit), [
    { way: 'none', days: 0 },
    { way: 'fixed', days: 0 },
    { way: 'before', days: 0 },
    { way: 'before', days: 18 },
    { way: 'after', days: 30 },
    { way: 'fixed', days: 0 },
  ]);
});

test('file types are parsed from a list without repeats', () => {
  assert.deepEqual(parseFileTypes('.PDF, image/*;  .pdf\n'), ['.pdf', 'image/*']);
});

test('the panel shows every attribute of every element exactly once, except translations, which have their own view', () => {
  const tables = [
    stepAttributes,
    ...Object.keys(elementDefinitions).map((type) => elementDefinitions[type as ElementType].attrs),
  ];
  for (const specs of tables) {
    const shown = groupAttributesBySection(specs, () => true);
    const names = panelSections.flatMap((section) => shown[section].map(([name]) => name));
    const own = Object.keys(specs).filter((name) => name !== 'translations');
    assert.deepEqual(names.toSorted(), own.toSorted());
  }
});

test('a published option keeps its id under another label, and a new option takes its label as id', () => {
  const published = new Set(['Blue']);
  const rename = (option: Parameters<typeof relabelOption>[0], label: string) =>
    relabelOption(option, label, ['Red'], published);
  assert.deepEqual(rename('Blue', 'Navy'), { id: 'Blue', label: 'Navy' });
  assert.equal(rename({ id: 'Blue', label: 'Navy' }, 'Blue'), 'Blue');
  assert.deepEqual(rename({ id: 'Blue', label: 'Navy', points: 2 }, 'Blue'), {
    id: 'Blue',
    label: 'Blue',
    points: 2,
  });
  assert.equal(rename('Option 3', 'Green'), 'Green');
});

test('an option with the former label of another gets a new id, and pasted lines keep the options that they name', () => {
  const options = ['Red', { id: 'Blue', label: 'Navy' }];
  assert.deepEqual(relabelOption('Option 3', 'Blue', options, new Set()), { id: 'Blue 2', label: 'Blue' });
  assert.deepEqual(optionsFromLines(['Navy', 'Blue', 'Green'], options), [
    { id: 'Blue', label: 'Navy' },
    { id: 'Blue 2', label: 'Blue' },
    'Green',
  ]);
});

test('an option without text is blank with an id, takes its first text, and is blank again without it', () => {
  const blank = blankOption(['Red'], 'option');
  assert.deepEqual(blank, { id: 'option_2', label: '' });
  assert.equal(relabelOption(blank, 'Blue', ['Red'], new Set()), 'Blue');
  assert.deepEqual(relabelOption('Blue', '', ['Red'], new Set()), { id: 'Blue', label: '' });
});

test('Enter adds an option below, Backspace removes an empty one, Alt and an arrow moves it, and a pasted list becomes several', () => {
  const options = ['Red', 'Blue', { id: 'option_3', label: '' }];
  const press = (at: number, key: string, altKey = false) =>
    handleOptionKey(
      { options, at },
      { key, altKey },
      { noun: 'option', text: at === 2 ? '' : 'x', maxItems: 4 },
    );
  assert.deepEqual(press(0, 'Enter'), {
    options: ['Red', { id: 'option_4', label: '' }, 'Blue', options[2]],
    at: 1,
  });
  assert.deepEqual(press(1, 'Enter'), { options, at: 2 }, 'one that is blank already is written first');
  assert.deepEqual(press(2, 'Backspace'), { options: ['Red', 'Blue'], at: 1 });
  assert.equal(press(1, 'Backspace'), undefined, 'a letter of it goes');
  assert.deepEqual(press(1, 'ArrowUp', true)?.options.slice(0, 2), ['Blue', 'Red']);
  assert.deepEqual(press(2, 'ArrowDown'), { options, at: 2 });
  assert.deepEqual(pasteOptionList({ options, at: 2 }, '- Green\n- Red\n\n- Grey', 4), {
    options: ['Red', 'Blue', 'Green', 'Grey'],
    at: 3,
  });
  assert.equal(pasteOptionList({ options, at: 2 }, 'Green', 4), undefined);
});
