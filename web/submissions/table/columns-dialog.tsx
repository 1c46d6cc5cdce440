import './columns-dialog.css';
import { type ReactElement, useState } from 'react';
import { Button, IconButton } from '../../design/button.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { moveColumn, type TableColumn } from './table-columns.ts';

type Props = {
  isOpen: boolean;
  onClose: () => void;
  /** In the person's order. */
  columns: readonly TableColumn[];
  hidden: readonly string[];
  onHiddenChange: (hidden: string[]) => void;
  onOrderChange: (order: string[]) => void;
  onReset: () => void;
};

/** Which columns the table has, and in which order. What the mouse does by dragging a head, buttons do here. */
export function ColumnsDialog({
  isOpen,
  onClose,
  columns,
  hidden,
  onHiddenChange,
  onOrderChange,
  onReset,
}: Props): ReactElement {
  const [said, setSaid] = useState('');
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
    setSaid(`${title}, position ${to + 1} of ${columns.length}`);
  };
  return (
    <Dialog
      title="Columns"
      description="Kept for you and this form, in every browser."
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
        {said}
      </span>
    </Dialog>
  );
}
