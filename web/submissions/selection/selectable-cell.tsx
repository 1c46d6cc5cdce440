import './selectable-cell.css';
import { type ReactElement, type ReactNode, useCallback, useState } from 'react';
import type { Answers } from '#ast/answers/check-answers.ts';
import type { Column } from '#submissions/shapes.ts';
import { Checkbox } from '../../design/checkbox.tsx';
import type { TableColumn } from '../../design/table.tsx';
import { formatDateTime, receivedAt } from '../../design/time.tsx';
import { formatAnswer } from '../answer-text.tsx';
import { toFilterParameters } from '../view-state.ts';

/** Adds or removes rows and returns the new selection. */
function changeSelection(
  selected: ReadonlySet<string>,
  ids: readonly string[],
  isSelected: boolean,
): ReadonlySet<string> {
  return isSelected ? selected.union(new Set(ids)) : selected.difference(new Set(ids));
}

const none: ReadonlySet<string> = new Set();

/** Returns the ticked submissions. The selection spans the pages of a view and is cleared with it. */
export function useSelection(formId: string, view: Parameters<typeof toFilterParameters>[0]) {
  const scope = JSON.stringify([formId, toFilterParameters(view)]);
  const [last, setLast] = useState({ scope, ids: none });
  const select = useCallback(
    (ids: readonly string[], isSelected: boolean) =>
      setLast((before) => ({
        scope,
        ids: changeSelection(before.scope === scope ? before.ids : none, ids, isSelected),
      })),
    [scope],
  );
  return { ids: last.scope === scope ? last.ids : none, clear: () => setLast({ scope, ids: none }), select };
}

type SelectableRow = {
  readonly id: string;
  readonly created_at: string;
  readonly completed_at?: string | null;
};

/** How rows are selected; undefined if the person may not change them. */
export type RowSelection = {
  readonly selected: ReadonlySet<string>;
  readonly select: (ids: readonly string[], isSelected: boolean) => void;
};

type SelectableCellProps = { row: SelectableRow; selection: RowSelection | undefined; children: ReactNode };

/** The first cell of a row: its checkbox, and the title of the submission. */
function SelectableCell({ row, selection, children }: SelectableCellProps): ReactElement {
  return (
    <span className="selectable-cell">
      {selection && (
        <Checkbox
          aria-label={`Select the submission from ${formatDateTime(receivedAt(row))}`}
          isSelected={selection.selected.has(row.id)}
          onChange={(isSelected) => selection.select([row.id], isSelected)}
        />
      )}
      <span className="selectable-words">{children}</span>
    </span>
  );
}

/** The header of the selection column: selects all rows of the page. */
function SelectableHeader({
  rows,
  selection,
}: {
  rows: readonly { readonly id: string }[];
  selection: RowSelection | undefined;
}): ReactElement {
  const ids = rows.map(({ id }) => id);
  return (
    <span className="selectable-cell">
      {selection && (
        <Checkbox
          aria-label="Select all on this page"
          isSelected={ids.every((id) => selection.selected.has(id))}
          onChange={(isSelected) => selection.select(ids, isSelected)}
        />
      )}
      Submission
    </span>
  );
}

/** Returns the column of the checkboxes and the first answers. `show` renders the first of them. */
export const answersColumn = <Row extends SelectableRow & { readonly answers: Answers }>(
  rows: readonly Row[],
  selection: RowSelection | undefined,
  columns: readonly Column[] | undefined,
  show: (first: string, row: Row) => ReactNode,
): TableColumn<Row> => ({
  id: 'submission',
  title: <SelectableHeader rows={rows} selection={selection} />,
  cell(row) {
    const [first = 'No answers', ...others] = firstAnswers(row.answers, columns);
    return (
      <SelectableCell row={row} selection={selection}>
        {show(first, row)}
        <span className="soft small cut">{others.join(' · ')}</span>
      </SelectableCell>
    );
  },
});

/** Returns the first four answers to recognize a submission by, with the labels of options and rows. */
export const firstAnswers = (answers: Answers, columns: readonly Column[] = []): string[] =>
  Object.entries(answers)
    .slice(0, 4)
    .map(([id, value]) => {
      const question = columns.find((column) => column.id === id);
      return formatAnswer(value, question).slice(0, 100);
    });
