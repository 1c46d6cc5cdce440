import './submissions-table.css';
import { Link } from '@tanstack/react-router';
import { type MouseEvent, memo, type ReactElement, useEffect, useMemo, useRef } from 'react';
import { Focusable } from 'react-aria-components/Tooltip';
import { getProperty } from '#ast/basics/json.ts';
import type { TableRow } from '#submissions/shapes.ts';
import { Checkbox } from '../../design/checkbox.tsx';
import { StageChip, StatusChip } from '../../design/chip.tsx';
import { HighlightedText, wholeWordPattern } from '../../design/highlighted-text.tsx';
import { TagChips } from '../../design/tags.tsx';
import { AgoText, formatDateTime, receivedAt } from '../../design/time.tsx';
import { Tooltip } from '../../design/tooltip.tsx';
import { AnswerCell, formatAnswer } from '../answer-text.tsx';
import { kindOfColumn } from '../filter/conditions.ts';
import { type ColumnActions, ColumnHeader } from './column-head.tsx';
import { isFixedColumn, receivedColumn, type SubmissionColumn, usualWidth } from './columns-dialog.tsx';

/** The number of characters shown around a match: one line of the table. */
const foundLimit = 64;

type FoundCellProps = { row: TableRow; columns: readonly SubmissionColumn[] };

/**
 * Shows the first answer that contains a word of the search, so that a match is visible even if its column is
 * not.
 */
function FoundCell({ row, columns }: FoundCellProps): ReactElement | null {
  const pattern = wholeWordPattern(row.hits);
  if (!pattern) return null;
  const found = textsOf(row, columns).find(({ text }) => text.search(pattern) >= 0);
  if (!found) return null;
  return (
    <>
      <span className="soft">{found.title}: </span>
      <HighlightedText text={found.text} hits={row.hits} limit={foundLimit} />
    </>
  );
}

function textsOf(row: TableRow, columns: readonly SubmissionColumn[]): { title: string; text: string }[] {
  const answers = columns.flatMap((column) => {
    if (column.kind !== 'answer') return [];
    const value = getProperty(row.answers, column.id);
    return value === undefined ? [] : [{ title: column.title, text: formatAnswer(value, column.column) }];
  });
  return [...answers, ...Object.entries(row.reference).map(([title, text]) => ({ title, text }))];
}

type RowProps = {
  row: TableRow;
  columns: readonly SubmissionColumn[];
  /** The positions of the pinned columns, including the first. */
  pins: readonly number[];
  isOpen: boolean;
  isSelected: boolean;
  mayEdit: boolean;
  onSelect: (ids: readonly string[], isSelected: boolean) => void;
  onOpen: (id: string) => void;
};

/** A submission in the table. The first cell is its link; clicking anywhere in the row also opens it. */
const SubmissionRow = memo(function SubmissionRow({
  row,
  columns,
  pins,
  isOpen,
  isSelected,
  mayEdit,
  onSelect,
  onOpen,
}: RowProps): ReactElement {
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
            aria-label={`Select the submission from ${formatDateTime(receivedAt(row))}`}
            isSelected={isSelected}
            onChange={(selected) => onSelect([row.id], selected)}
          />
        </td>
      )}
      <th scope="row" className="sheet-first">
        <Tooltip text={formatDateTime(receivedAt(row))}>
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

function classOf(column: SubmissionColumn, pinnedAt: number | undefined): string | undefined {
  const isNumber = column.kind === 'answer' && kindOfColumn(column.column) === 'number';
  const classes = [isNumber && 'sheet-number', pinnedAt !== undefined && 'sheet-pinned'];
  return classes.filter(Boolean).join(' ') || undefined;
}

type CellProps = { column: SubmissionColumn; row: TableRow; columns: readonly SubmissionColumn[] };

function Cell({ column, row, columns }: CellProps): ReactElement | null {
  if (column.kind === 'status') return <StatusChip status={row.status} />;
  if (column.kind === 'stage')
    return <StageChip stage={column.team.stages.find(({ id }) => id === row.stage_id)} />;
  if (column.kind === 'assignee')
    return <>{column.team.members.find(({ id }) => id === row.assignee_id)?.label}</>;
  if (column.kind === 'tags') return <TagChips tags={row.tags} />;
  if (column.kind === 'answer')
    return <AnswerCell value={getProperty(row.answers, column.id)} display={column.column} hits={row.hits} />;
  if (column.kind === 'found') return <FoundCell row={row} columns={columns} />;
  const reference = Object.entries(row.reference).map(([name, value]) => `${name}: ${value}`);
  return <HighlightedText text={reference.join(', ')} hits={row.hits} limit={200} />;
}

type Props = ColumnActions & {
  /** The sort order, in the format of the URL. */
  sort: string | undefined;
  rows: readonly TableRow[];
  /** Must be a stable array, because a new one renders all rows again. */
  columns: readonly SubmissionColumn[];
  /** The number of columns that stay in place after the first. */
  pinned: number;
  widths: Readonly<Record<string, number>>;
  isTall: boolean;
  /** Whether the rows still belong to the previous view. */
  isStale: boolean;
  open: string | undefined;
  mayEdit: boolean;
  selected: ReadonlySet<string>;
  onSelect: (ids: readonly string[], isSelected: boolean) => void;
  onSelectPage: (isSelected: boolean) => void;
  onOpen: (id: string) => void;
};

/** In px. The style sheet positions the first column after it. */
const checkColumnWidth = 48;

/** The submissions as a table that scrolls in both directions under fixed headers. */
export function SubmissionsTable({
  rows,
  columns,
  sort,
  pinned,
  widths,
  isTall,
  isStale,
  open,
  mayEdit,
  selected,
  onSelect,
  onSelectPage,
  onOpen,
  ...actions
}: Props): ReactElement {
  const sheet = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (open)
      sheet.current?.querySelector(`[data-id="${CSS.escape(open)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [open, rows]);
  const widthOf = (column: SubmissionColumn): number => widths[column.id] ?? usualWidth(column);
  const checkWidth = mayEdit ? checkColumnWidth : 0;
  const chosen = rows.filter((row) => selected.has(row.id)).length;
  const all = [receivedColumn, ...columns];
  const pinnedWidths = all.slice(0, pinned > 0 ? pinned + 1 : 0).map(widthOf);
  // A string, so that unchanged rows are not rendered again.
  const pinKey = JSON.stringify([checkWidth, pinnedWidths]);
  const pins = useMemo(() => {
    const [before, list] = JSON.parse(pinKey) as [number, number[]];
    return pinOffsets(list, before);
  }, [pinKey]);
  const movable = (column: SubmissionColumn | undefined): SubmissionColumn | undefined =>
    column && !isFixedColumn(column) ? column : undefined;
  return (
    <div
      ref={sheet}
      className="sheet"
      role="region"
      aria-label="Submissions"
      tabIndex={0}
      aria-busy={isStale}
      data-tall={isTall || undefined}
    >
      <table
        className="sheet-table"
        style={{ inlineSize: checkWidth + all.reduce((sum, column) => sum + widthOf(column), 0) }}
      >
        <colgroup>
          {mayEdit && <col style={{ inlineSize: checkColumnWidth }} />}
          {all.map((column) => (
            <col key={column.id} style={{ inlineSize: widthOf(column) }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {mayEdit && (
              <td className="sheet-head sheet-check">
                <Checkbox
                  aria-label="Select all submissions on this page"
                  isSelected={rows.length > 0 && chosen === rows.length}
                  isIndeterminate={chosen > 0 && chosen < rows.length}
                  onChange={onSelectPage}
                />
              </td>
            )}
            {all.map((column, index) => (
              <ColumnHeader
                key={column.id}
                column={column}
                sort={sort}
                width={widthOf(column)}
                place={index}
                pinned={pinned}
                pinnedAt={pins[index]}
                previous={movable(all[index - 1])}
                next={all[index + 1]}
                {...actions}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <SubmissionRow
              key={row.id}
              row={row}
              columns={columns}
              pins={pins}
              isOpen={row.id === open}
              isSelected={selected.has(row.id)}
              mayEdit={mayEdit}
              onSelect={onSelect}
              onOpen={onOpen}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Returns the position of each pinned column in px from the start of the scroll area. */
function pinOffsets(widths: readonly number[], before: number): readonly number[] {
  let at = before;
  return widths.map((width) => {
    const place = at;
    at += width;
    return place;
  });
}
