import { Link } from '@tanstack/react-router';
import { memo, type MouseEvent, type ReactElement } from 'react';
import { Focusable } from 'react-aria-components/Tooltip';
import type { TableRow } from '#submissions/shapes.ts';
import { own } from '#ast/json.ts';
import { Checkbox } from '../../design/checkbox.tsx';
import { StatusChip } from '../../design/chip.tsx';
import { AgoText, sayMoment } from '../../design/time.tsx';
import { Tooltip } from '../../design/tooltip.tsx';
import { AnswerCell, sayWhole } from '../answer-text.tsx';
import { Marked, patternOf } from '../../design/marked.tsx';
import { TagChips } from '../tags.tsx';
import { receivedAt } from '../../api/received-at.ts';
import { kindOfColumn } from '../filter/conditions.ts';
import type { TableColumn } from './table-columns.ts';

/** Characters around a hit: a line of the table. */
const foundLimit = 64;

/** The first answer with a word that the search found, so that a hit is seen whichever columns are in sight. */
function FoundCell({
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

type Props = {
  row: TableRow;
  columns: readonly TableColumn[];
  /** Where the pinned columns stay, the first one included. */
  pins: readonly number[];
  isOpen: boolean;
  isSelected: boolean;
  mayEdit: boolean;
  onSelect: (ids: readonly string[], isSelected: boolean) => void;
  onOpen: (id: string) => void;
};

/** A submission in the table. Its first cell is the way to it; a click anywhere in the row is a shortcut. */
export const SubmissionRow = memo(function SubmissionRow({
  row,
  columns,
  pins,
  isOpen,
  isSelected,
  mayEdit,
  onSelect,
  onOpen,
}: Props): ReactElement {
  const open = (event: MouseEvent): void => {
    const isControl =
      event.target instanceof Element && event.target.closest('a, button, input, label') !== null;
    if (!isControl && getSelection()?.isCollapsed !== false) onOpen(row.id);
  };
  return (
    <tr
      className="sheet-row"
      data-open={isOpen || undefined}
      data-selected={isSelected || undefined}
      onClick={open}
      data-id={row.id}
    >
      {mayEdit && (
        <td className="sheet-check">
          <Checkbox
            aria-label={`Select the submission of ${sayMoment(receivedAt(row))}`}
            isSelected={isSelected}
            onChange={(selected) => onSelect([row.id], selected)}
          />
        </td>
      )}
      <th scope="row" className="sheet-first">
        <Tooltip text={sayMoment(receivedAt(row))}>
          <Focusable>
            <Link
              to="."
              search={(search: object) => ({ ...search, open: row.id })}
              resetScroll={false}
              className="sheet-link"
              aria-current={isOpen || undefined}
            >
              <AgoText at={receivedAt(row)} />
            </Link>
          </Focusable>
        </Tooltip>
      </th>
      {columns.map((column, index) => (
        <td
          key={column.id}
          className={classOf(column, pins[index + 1])}
          style={{ insetInlineStart: pins[index + 1] }}
        >
          <div className="sheet-cell">
            <Cell column={column} row={row} columns={columns} />
          </div>
        </td>
      ))}
    </tr>
  );
});

function classOf(column: TableColumn, pinnedAt: number | undefined): string | undefined {
  const isNumber = column.kind === 'answer' && kindOfColumn(column.column) === 'number';
  const classes = [isNumber && 'sheet-number', pinnedAt !== undefined && 'sheet-pinned'];
  return classes.filter(Boolean).join(' ') || undefined;
}

function Cell({
  column,
  row,
  columns,
}: {
  column: TableColumn;
  row: TableRow;
  columns: readonly TableColumn[];
}): ReactElement | null {
  if (column.kind === 'status') return <StatusChip status={row.status} />;
  if (column.kind === 'tags') return <TagChips tags={row.tags} />;
  if (column.kind === 'answer')
    return <AnswerCell value={own(row.answers, column.id)} asked={column.column} hits={row.hits} />;
  if (column.kind === 'found') return <FoundCell row={row} columns={columns} />;
  const reference = Object.entries(row.reference).map(([name, value]) => `${name}: ${value}`);
  return <Marked text={reference.join(', ')} hits={row.hits} limit={200} />;
}
