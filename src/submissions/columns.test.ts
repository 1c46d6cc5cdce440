import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Form } from '#ast/form/tree.ts';
import { element, structure } from '#test/ast/forms.ts';
import { listColumnsOfVersions } from './columns.ts';

/** Returns a version with these questions, one for each letter. */
const version = (ids: string): Form => structure(...ids.split('').map((id) => element('text', id))) as Form;

const orders: readonly [why: string, versions: readonly string[], columns: string][] = [
  ['the live version alone', ['abc'], 'abc'],
  ['what is asked no more, behind what it followed', ['abc', 'axbyc'], 'axbyc'],
  ['several behind one another', ['ab', 'axyzb'], 'axyzb'],
  ['what came before all others', ['ab', 'xyab'], 'xyab'],
  ['another order then: the live one counts', ['abc', 'cxa'], 'abcx'],
  ['of several versions the newest first', ['ab', 'axb', 'ayxb'], 'ayxb'],
  ['nothing in common', ['ab', 'xy'], 'xyab'],
];
for (const [why, versions, expected] of orders) {
  test(`columns are the union of all answered versions, in the order of the live version: ${why}`, () => {
    const columns = listColumnsOfVersions(versions.map(version));
    assert.equal(columns.map(({ id }) => id).join(''), expected);
    assert.deepEqual(
      columns.filter((column) => column.is_retired).map(({ id }) => id),
      columns.map(({ id }) => id).filter((id) => !versions[0]!.includes(id)),
    );
  });
}
