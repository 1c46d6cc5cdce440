import { type DragEvent, type PointerEvent, type ReactElement, useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Icon } from '../../design/icon.tsx';
import { Menu, type MenuAction } from '../../design/menu.tsx';
import { columnWidthLimits, isFixedColumn, isSortable, type SubmissionColumn } from './columns-dialog.tsx';
import { readSorting, sortBy, toggleSorting, unsort } from './sorting.ts';

export type ColumnActions = {
  /** Moves a column before or after the column that it was dropped on. */
  onMove: (id: string, target: string, place: 'before' | 'after') => void;
  onHide: (id: string) => void;
  onResize: (id: string, width: number) => void;
  /** Sets the sort order, in the format of the URL. */
  onSort: (sort: string | undefined) => void;
  /** Pins this many columns after the first; undefined on small screens. */
  onPin?: ((count: number) => void) | undefined;
};

type Props = ColumnActions & {
  column: SubmissionColumn;
  /** The sort order of the table. */
  sort: string | undefined;
  width: number;
  /** The position of the column, counted from 0. */
  place: number;
  /** The number of pinned columns after the first. */
  pinned: number;
  /** The position of a pinned column in px; undefined if it scrolls. */
  pinnedAt: number | undefined;
  /** The neighbors that the column can be swapped with; undefined for the first column. */
  previous: SubmissionColumn | undefined;
  next: SubmissionColumn | undefined;
};

const dragType = 'application/x-formloom-column';

/** A column header with a menu for keyboard and touch, and a drag handle and a resize edge for the mouse. */
export function ColumnHeader(props: Props): ReactElement {
  const { column, width, pinnedAt, sort, onMove, onResize, onSort } = props;
  const sorting = readSorting(sort);
  const sorted = sorting.find(({ id }) => id === column.id);
  const place = sorting.length > 1 && sorted ? sorting.indexOf(sorted) + 1 : undefined;
  const [dropPlace, setDropPlace] = useState<'before' | 'after'>();
  const cell = useRef<HTMLTableCellElement>(null);
  const isFixed = isFixedColumn(column);
  const hover = (event: DragEvent): void => {
    if (isFixed || !event.dataTransfer.types.includes(dragType)) return;
    event.preventDefault();
    setDropPlace(dropSide(event, cell.current!));
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setDropPlace(undefined);
    onMove(event.dataTransfer.getData(dragType), column.id, dropSide(event, cell.current!));
  };
  return (
    <th
      ref={cell}
      scope="col"
      aria-sort={sorted ? (sorted.isDescending ? 'descending' : 'ascending') : undefined}
      className={`sheet-head${column.kind === 'received' ? ' sheet-first' : pinnedAt === undefined ? '' : ' sheet-pinned'}`}
      style={column.kind === 'received' ? undefined : { insetInlineStart: pinnedAt }}
      data-drop={dropPlace}
      onDragOver={hover}
      onDragLeave={() => setDropPlace(undefined)}
      onDrop={drop}
    >
      <span className="sheet-head-content">
        {!isFixed && (
          <span
            className="sheet-grip"
            aria-hidden="true"
            draggable
            onDragStart={(event) => {
              event.dataTransfer.setData(dragType, column.id);
              event.dataTransfer.effectAllowed = 'move';
            }}
          >
            <Icon name="drag" />
          </span>
        )}
        {isSortable(column) ? (
          <Button
            className="sheet-head-button"
            aria-label={`Sort by ${column.title}`}
            onPress={({ shiftKey }) => onSort(toggleSorting(sort, column.id, { isSecond: shiftKey }))}
          >
            <span className="cut">{column.title}</span>
            {sorted && (
              <span className="sheet-sorted">
                <Icon name={sorted.isDescending ? 'arrow-down' : 'arrow-up'} />
                {place}
              </span>
            )}
          </Button>
        ) : (
          <span className="sheet-head-words cut">{column.title}</span>
        )}
        <Menu items={actionsOf(props)} placement="bottom end">
          <Button className="sheet-head-menu" aria-label={`${column.title}, column options`}>
            <Icon name="chevron-down" />
          </Button>
        </Menu>
      </span>
      <ResizeEdge width={width} onResize={(wide) => onResize(column.id, wide)} />
    </th>
  );
}

function dropSide(event: DragEvent, cell: HTMLElement): 'before' | 'after' {
  const { left, width } = cell.getBoundingClientRect();
  const isFirstHalf = event.clientX < left + width / 2;
  return isFirstHalf === (getComputedStyle(cell).direction === 'ltr') ? 'before' : 'after';
}

function actionsOf(props: Props): MenuAction[] {
  const { column, width, previous, next, onMove, onHide, onResize } = props;
  const { id } = column;
  const moves: MenuAction[] = isFixedColumn(column)
    ? []
    : [
        {
          id: 'before',
          label: 'Move towards the start',
          icon: 'back',
          isDisabled: !previous,
          onAction: () => onMove(id, previous!.id, 'before'),
        },
        {
          id: 'after',
          label: 'Move towards the end',
          icon: 'chevron-end',
          isDisabled: !next,
          onAction: () => onMove(id, next!.id, 'after'),
        },
      ];
  const hide: MenuAction[] = isFixedColumn(column)
    ? []
    : [{ id: 'hide', label: 'Hide column', icon: 'eye', onAction: () => onHide(id) }];
  return [
    ...sortActions(props),
    ...moves,
    {
      id: 'wider',
      label: 'Wider',
      isDisabled: width >= columnWidthLimits.most,
      onAction: () => onResize(id, width + columnWidthLimits.step),
    },
    {
      id: 'narrower',
      label: 'Narrower',
      isDisabled: width <= columnWidthLimits.least,
      onAction: () => onResize(id, width - columnWidthLimits.step),
    },
    ...hide,
    ...pinActions(props),
  ];
}

/** Sorts from the menu, for touch and for people who do not know the Shift key. */
function sortActions({ column, sort, onSort }: Props): MenuAction[] {
  if (!isSortable(column)) return [];
  const { id } = column;
  const sorting = readSorting(sort);
  const [first] = sorting;
  const action = (isDescending: boolean, isSecond: boolean): MenuAction => ({
    id: `sort ${isDescending} ${isSecond}`,
    label: `${isSecond ? 'Then sort ' : 'Sort '}${isDescending ? 'descending' : 'ascending'}`,
    icon: isDescending ? 'arrow-down' : 'arrow-up',
    isCurrent:
      sorting[Number(isSecond)]?.id === id && sorting[Number(isSecond)]?.isDescending === isDescending,
    onAction: () => onSort(sortBy(sort, { id, isDescending }, { isSecond })),
  });
  const isBehind = first !== undefined && first.id !== id;
  const isSorted = sorting.some((column) => column.id === id);
  return [
    action(false, false),
    action(true, false),
    ...(isBehind ? [action(false, true), action(true, true)] : []),
    ...(isSorted
      ? [{ id: 'unsort', label: 'Remove sorting', onAction: () => onSort(unsort(sort, id)) }]
      : []),
    { id: 'sorting', separator: true },
  ];
}

/**
 * Returns actions that pin all columns from the start up to this one. A single pinned column between
 * scrolling ones would cover them.
 */
function pinActions({ column, place, pinned, onPin }: Props): MenuAction[] {
  if (!onPin || column.kind === 'found') return [];
  const pin: MenuAction[] =
    place > 0 && place !== pinned
      ? [{ id: 'pin', label: 'Pin up to here', icon: 'columns', onAction: () => onPin(place) }]
      : [];
  const unpin: MenuAction[] =
    pinned > 0 ? [{ id: 'unpin', label: 'Unpin columns', onAction: () => onPin(0) }] : [];
  return [...pin, ...unpin];
}

/** The resize edge for the mouse. With the keyboard, the menu changes the width. */
function ResizeEdge({ width, onResize }: { width: number; onResize: (width: number) => void }): ReactElement {
  const start = useRef<{ x: number; width: number } | undefined>(undefined);
  const pull = (event: PointerEvent<HTMLElement>): void => {
    if (!start.current) return;
    const forward = getComputedStyle(event.currentTarget).direction === 'ltr' ? 1 : -1;
    onResize(start.current.width + forward * (event.clientX - start.current.x));
  };
  return (
    <span
      className="sheet-edge"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width };
      }}
      onPointerMove={pull}
      onPointerUp={() => {
        start.current = undefined;
      }}
    />
  );
}
