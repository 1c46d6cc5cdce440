import './submissions-table.css';
import { type ReactElement, useEffect, useMemo, useRef } from 'react';
import type { TableRow } from '#submissions/shapes.ts';
import { Checkbox } from '../../design/checkbox.tsx';
import { type ColumnActions, ColumnHead } from './column-head.tsx';
import { SubmissionRow } from './submission-row.tsx';
import { receivedColumn, isFixedColumn, type TableColumn, usualWidth } from './table-columns.ts';

type Props = ColumnActions & {
  /** Its order, as the address has it. */
  sort: string | undefined;
  rows: readonly TableRow[];
  /** The same list until one of them changes: rows are drawn again for another one. */
  columns: readonly TableColumn[];
  /** How many of the columns stay in place with the first. */
  pinned: number;
  widths: Readonly<Record<string, number>>;
  isTall: boolean;
  /** The rows are still those of the view before. */
  isStale: boolean;
  open: string | undefined;
  mayEdit: boolean;
  selected: ReadonlySet<string>;
  onSelect: (ids: readonly string[], isSelected: boolean) => void;
  onSelectPage: (isSelected: boolean) => void;
  onOpen: (id: string) => void;
};

/** In px; the style sheet puts the first column behind it. */
const checkColumnWidth = 48;

/** The submissions as a table of its own width, in a window that scrolls under fixed heads. */
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
  const widthOf = (column: TableColumn): number => widths[column.id] ?? usualWidth(column);
  const checkWidth = mayEdit ? checkColumnWidth : 0;
  const chosen = rows.filter((row) => selected.has(row.id)).length;
  const all = [receivedColumn, ...columns];
  const pinnedWidths = all.slice(0, pinned > 0 ? pinned + 1 : 0).map(widthOf);
  // By its text, so that rows that did not change are not drawn again.
  const pinKey = JSON.stringify([checkWidth, pinnedWidths]);
  const pins = useMemo(() => {
    const [before, list] = JSON.parse(pinKey) as [number, number[]];
    return pinPlaces(list, before);
  }, [pinKey]);
  const movable = (column: TableColumn | undefined): TableColumn | undefined =>
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
              <ColumnHead
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

/** Where each pinned column stays, in px from the start of the window that scrolls; none when none is pinned. */
function pinPlaces(widths: readonly number[], before: number): readonly number[] {
  let at = before;
  return widths.map((width) => {
    const place = at;
    at += width;
    return place;
  });
}
