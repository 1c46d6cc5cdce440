import './columns-dialog.css';
import type { ReactElement } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { useDragAndDrop } from 'react-aria-components/useDragAndDrop';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Icon } from '../../design/icon.tsx';
import { Switch } from '../../design/checkbox.tsx';
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

/** Which columns the table has, and in which order: by mouse, by touch and by keyboard (Enter on a handle lifts it). */
export function ColumnsDialog({ isOpen, onClose, columns, hidden, onHiddenChange, onOrderChange, onReset }: Props): ReactElement {
  const ids = columns.map((column) => column.id);
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder({ keys, target }) {
      const place = target.dropPosition === 'after' ? 'after' : 'before';
      const moved = [...keys].map(String);
      onOrderChange(moved.reduce((order, id) => moveColumn(order, id, String(target.key), place), ids));
    },
  });
  const show = (id: string, isShown: boolean): void => onHiddenChange(isShown ? hidden.filter((other) => other !== id) : [...hidden, id]);
  return (
    <Dialog
      title="Columns"
      description="Kept in this browser, for this form."
      isOpen={isOpen}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onReset}>Reset</Button>
          <Button variant="primary" onPress={onClose}>
            Done
          </Button>
        </>
      }
    >
      <GridList aria-label="Columns in order" items={columns.map((column) => ({ ...column, isShown: !hidden.includes(column.id) }))} dragAndDropHooks={dragAndDropHooks} className="column-list" keyboardNavigationBehavior="tab">
        {(column) => (
          <GridListItem id={column.id} textValue={column.title} className="column-item">
            <AriaButton slot="drag" className="column-handle" aria-label={`Move ${column.title}`}>
              <Icon name="drag" />
            </AriaButton>
            <Switch isSelected={column.isShown} onChange={(isShown) => show(column.id, isShown)}>
              {column.title}
            </Switch>
          </GridListItem>
        )}
      </GridList>
    </Dialog>
  );
}
