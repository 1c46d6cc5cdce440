import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from './clock.ts';
import { finishPage, lowerIdBound, readPageRequest, upperIdBound } from './pagination.ts';

const rows = (count: number) => Array.from({ length: count }, () => ({ id: newId() }));

test('a numbered page reads only the rows that it shows, and returns no cursor', () => {
  const cut = readPageRequest({ page: 3, per_page: 10 }, 'things');
  assert.deepEqual([cut.limit, cut.offset, cut.after], [10, 20, null]);
  const taken = rows(10);
  assert.deepEqual(finishPage(cut, taken, 95), {
    rows: taken,
    ends: { pagination: { page: 3, per_page: 10, total_count: 95, total_pages: 10 } },
  });
});

test('a cursor continues after the last row shown, keeps the total, and ends with null', () => {
  const list = rows(5);
  const first = readPageRequest({ per_page: 2, cursor: '*' }, 'things');
  assert.deepEqual(
    [first.limit, upperIdBound(first), lowerIdBound(first), first.total],
    [3, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000', undefined],
  );
  const begun = finishPage(first, list.slice(0, 3), 5);
  assert.deepEqual(begun.rows, list.slice(0, 2));
  const second = readPageRequest({ per_page: 3, cursor: begun.ends.next_cursor! }, 'things');
  assert.deepEqual([second.page, second.total, upperIdBound(second)], [2, 5, list[1]!.id]);
  assert.equal(
    lowerIdBound({ after: '01a1fde4-6fce-7e1a-a75a-2f8f8cc3ffff' }),
    '01a1fde4-6fce-7e1a-a75a-2f8f8cc40000',
  );
  assert.equal(finishPage(second, list.slice(2), 5).ends.next_cursor, null);
});

test('a cursor is valid for one list and one filter, in any parameter order and letter case', () => {
  const [q, other] = [{ q: 'a', per_page: 2 }, { status: 'x' }];
  const { ends } = finishPage(readPageRequest({ ...q, ...other, cursor: '*' }, 'things', 'A1'), rows(3), 3);
  const cursor = ends.next_cursor!;
  const [mark] = Buffer.from(cursor, 'base64url').toString().split(' ');
  assert.equal(readPageRequest({ ...other, ...q, cursor }, 'things', 'a1').page, 2);
  for (const refused of [
    () => readPageRequest({ ...q, cursor }, 'things', 'a1'),
    () => readPageRequest({ ...q, ...other, cursor }, 'others', 'a1'),
    () => readPageRequest({ ...q, ...other, cursor }, 'things', 'a2'),
    () => readPageRequest({ ...q, ...other, page: 1, cursor }, 'things', 'a1'),
    () => readPageRequest({ ...q, ...other, cursor: `${cursor}AAAA` }, 'things', 'a1'),
    () => readPageRequest({ ...q, ...other, cursor: cursor.slice(0, -8) }, 'things', 'a1'),
    ...[
      `${mark} x 3 ${newId()}`,
      `${mark} 2 -3 ${newId()}`,
      `${mark} 2 3 ${newId()} more`,
      `${mark} 2 3 none`,
    ].map(
      (text) => () =>
        readPageRequest({ ...q, ...other, cursor: Buffer.from(text).toString('base64url') }, 'things', 'a1'),
    ),
    ...['', ' ', '**', 'null', '💥', Buffer.from('a b c d').toString('base64url')].map(
      (broken) => () => readPageRequest({ ...q, ...other, cursor: broken }, 'things', 'a1'),
    ),
  ])
    assert.throws(refused, { code: 'bad_request' });
});
