import type { ReactElement } from 'react';
import type { TableRow } from '#submissions/shapes.ts';
import { own } from '#ast/json.ts';
import { sayWhole } from '../answer-text.tsx';
import { Marked, patternOf } from '../../design/marked.tsx';
import type { TableColumn } from './table-columns.ts';

/** Characters around a hit: a line of the table. */
const foundLimit = 64;

/** The first answer with a word that the search found, so that a hit is seen whichever columns are in sight. */
export function FoundCell({
  row,
  columns,
}: {
  row: TableRow;
  columns: readonly TableColumn[];
}): ReactElement | null {
  const pattern = patternOf(row.hits);
  if (!pattern) return null;
  const found = textsOf(row, columns).find(({ text }) => text.search(pattern) >= 0);
  if (!found) return null;
  return (
    <>
      <span className="soft">{found.title}: </span>
      <Marked text={found.text} hits={row.hits} limit={foundLimit} />
    </>
  );
}

function textsOf(row: TableRow, columns: readonly TableColumn[]): { title: string; text: string }[] {
  const answers = columns.flatMap((column) => {
    if (column.kind !== 'answer') return [];
    const value = own(row.answers, column.id);
    return value === undefined ? [] : [{ title: column.title, text: sayWhole(value, column.column) }];
  });
  return [...answers, ...Object.entries(row.reference).map(([title, text]) => ({ title, text }))];
}
