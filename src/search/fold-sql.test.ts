import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldText } from '#submissions/search-text/spellings.ts';
import { testDatabase } from '#test/database.ts';
import { foldSql } from './fold-sql.ts';

const { database } = await testDatabase();

test('PostgreSQL folds every letter and digit like foldText', async () => {
  // PostgreSQL does not know the letters of Unicode 17 yet.
  const letters = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).filter((letter) =>
    /(?![\u02b9-\u02bf\ua7ce-\ua7f1])[\p{L}\p{Nd}]/u.test(letter),
  );
  const { rows } = await database.query<{ text: string; folded: string }>(
    `select text, ${foldSql('text')} as folded from unnest($1::text[]) as text`,
    [letters.map((letter) => `a${letter}\u0301b`)],
  );
  assert.ok(rows.length > 40_000);
  assert.deepEqual(
    rows.filter(({ text, folded }) => folded !== foldText(text)),
    [],
  );
});
