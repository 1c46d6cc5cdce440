import './columns-dialog.css';
import { type ReactElement, useState } from 'react';
import { elementDefinitions } from '#ast/form/elements.ts';
import type { ElementDefinition } from '#ast/types/definition.ts';
import { assignmentColumns, isSortableType } from '#rules/columns.ts';
import type { Column } from '#submissions/shapes.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { Dialog } from '../../design/dialog.tsx';
import type { Team } from '../queries.ts';

/** A column of the table. Element IDs begin with a letter, so `$` marks built-in columns. */
export type SubmissionColumn = { id: string; title: string } & (
  | { kind: 'received' | 'found' | 'status' | 'tags' | 'reference' }
  | { kind: 'stage' | 'assignee'; team: Team }
  | { kind: 'answer'; column: Column }
);

/** The first column. It is the row header, contains the link, and stays in place. */
export const receivedColumn: SubmissionColumn = { id: '$received', title: 'Received', kind: 'received' };

/** Shows where the search found its words. Only present during a search. */
export const foundColumn: SubmissionColumn = { id: '$found', title: 'Found in', kind: 'found' };

/** Whether the column always comes first. */
export const isFixedColumn = ({ kind }: SubmissionColumn): boolean => kind === 'received' || kind === 'found';

/** Whether the service can sort by the column. */
export const isSortable = (column: SubmissionColumn): boolean =>
  column.kind !== 'found' && (column.kind !== 'answer' || isSortableType(column.column.type));

/**
 * Returns all other columns that are possible, in the form's order. If two labels are equal, the element ID
 * is added.
 * @param isWide whether there is space for the status before the answers.
 */
export function listMovableColumns(
  columns: readonly Column[],
  team: Team,
  isWide: boolean,
): SubmissionColumn[] {
  const times = Map.groupBy(columns, (column) => column.label);
  const status: SubmissionColumn = { id: '$status', title: 'Status', kind: 'status' };
  const answers = columns.map(
    (column): SubmissionColumn => ({
      id: column.id,
      title: times.get(column.label)!.length > 1 ? `${column.label} (${column.id})` : column.label,
      kind: 'answer',
      column,
    }),
  );
  const reference: SubmissionColumn = { id: '$reference', title: 'Reference', kind: 'reference' };
  const tags: SubmissionColumn = { id: '$tags', title: 'Tags', kind: 'tags' };
  const assignment: SubmissionColumn[] = [
    { id: assignmentColumns.stage, title: 'Stage', kind: 'stage', team },
    { id: assignmentColumns.assignee, title: 'Assignee', kind: 'assignee', team },
  ];
  const last = [...assignment, tags, reference];
  return isWide ? [status, ...answers, ...last] : [...answers, status, ...last];
}

/** Returns the order after a column was moved before or after another. */
export function moveColumn(
  order: readonly string[],
  id: string,
  target: string,
  place: 'before' | 'after',
): string[] {
  const rest = order.filter((other) => other !== id);
  const at = rest.indexOf(target);
  if (at < 0) return [...order];
  rest.splice(place === 'before' ? at : at + 1, 0, id);
  return rest;
}

/** Widths in px. */
export const columnWidthLimits = { least: 96, most: 720, step: 64 } as const;

/** Returns the default width of a column. */
export function usualWidth(column: SubmissionColumn): number {
  if (column.kind === 'answer') {
    const { columnWidth = 208 }: ElementDefinition = elementDefinitions[column.column.type];
    return columnWidth;
  }
  return { received: 152, found: 320, status: 140, stage: 140, assignee: 152, tags: 200, reference: 240 }[
    column.kind
  ];
}

type Props = {
  isOpen: boolean;
  onClose: () => void;
  /** The columns in the person's order. */
  columns: readonly SubmissionColumn[];
  hidden: readonly string[];
  onHiddenChange: (hidden: string[]) => void;
  onOrderChange: (order: string[]) => void;
  onReset: () => void;
};

/** Shows, hides and orders columns with buttons, as an alternative to dragging. */
export function ColumnsDialog({
  isOpen,
  onClose,
  columns,
  hidden,
  onHiddenChange,
  onOrderChange,
  onReset,
}: Props): ReactElement {
  const [announcement, setAnnouncement] = useState('');
  const show = (id: string, isShown: boolean): void =>
    onHiddenChange(isShown ? hidden.filter((other) => other !== id) : [...hidden, id]);
  const move = (at: number, to: number): void => {
    const { id, title } = columns[at]!;
    onOrderChange(
      moveColumn(
        columns.map((column) => column.id),
        id,
        columns[to]!.id,
        to < at ? 'before' : 'after',
      ),
    );
    setAnnouncement(`${title}, position ${to + 1} of ${columns.length}`);
  };
  return (
    <Dialog
      title="Columns"
      description="Saved for you and this form, in every browser."
      isOpen={isOpen}
      onClose={onClose}
      actions={<Button onPress={onReset}>Reset</Button>}
      done="Done"
    >
      <ol className="column-list" aria-label="Columns in order">
        {columns.map(({ id, title }, index) => (
          <li key={id} className="column-item">
            <span className="column-switch">
              <Switch isSelected={!hidden.includes(id)} onChange={(isShown) => show(id, isShown)}>
                {title}
              </Switch>
            </span>
            <IconButton
              icon="chevron-up"
              size="small"
              label={`Move ${title} up`}
              isDisabled={index === 0}
              onPress={() => move(index, index - 1)}
            />
            <IconButton
              icon="chevron-down"
              size="small"
              label={`Move ${title} down`}
              isDisabled={index === columns.length - 1}
              onPress={() => move(index, index + 1)}
            />
          </li>
        ))}
      </ol>
      <span className="unseen" role="status">
        {announcement}
      </span>
    </Dialog>
  );
}
