import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Composite } from '#ast/form/tree.ts';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { countShownRows, restoreRows } from './rows.ts';

const team = composite('team', [element('yes_no', 'veg'), element('file_upload', 'cv')], {
  repeatable: true,
});
const form = formOf(team);
const file = { token: 't', filename: 'cv.pdf', size: 1 };

test('a repeatable composite shows one row without answers, and at most 100 rows', () => {
  const cases: [values: unknown, fileNames: string[], expected: number][] = [
    [undefined, [], 1],
    ['no list', [], 1],
    [[], [], 1],
    [[{}, {}], [], 2],
    [[{}], ['team[2][cv]', 'other[7][cv]'], 3],
    [Array.from({ length: 300 }, () => ({})), [], 100],
  ];
  for (const [values, fileNames, expected] of cases) {
    const files = new Map(fileNames.map((name) => [name, [file]] as const));
    assert.equal(countShownRows(team as Composite, { team: values }, files), expected);
  }
});

test('rows shown on the page return, even if nothing was entered in them', () => {
  const shown = [
    ['_row', 'team[0]'],
    ['_row', 'team[1]'],
  ] as const;
  assert.deepEqual(restoreRows(form, {}, shown), { team: [{}, {}] });
  assert.deepEqual(restoreRows(form, { team: [{ veg: true }] }, shown), { team: [{ veg: true }, {}] });
  assert.deepEqual(restoreRows(form, { team: [{}, {}, {}] }, shown), { team: [{}, {}, {}] });
});

test('rows beyond the limit, in unknown groups or for a value that is not a list are not created', () => {
  const shown = ['team[999]', 'team[1e9]', 'other[3]', '__proto__[1]', ''].map(
    (name) => ['_row', name] as const,
  );
  const { team, ...others } = restoreRows(form, {}, shown);
  assert.equal((team as unknown[]).length, 100);
  assert.deepEqual(others, {});
  assert.deepEqual(restoreRows(form, { team: 'text' }, [['_row', 'team[1]']]), { team: 'text' });
});
