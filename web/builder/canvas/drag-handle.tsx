import type { ReactElement } from 'react';
import { Icon } from '../../design/icon.tsx';
import { useBuilder } from '../editor/use-editor.ts';
import type { EditNode } from '../model/edit-node.ts';
import type { StartDrag } from './drag.ts';

type HandleProps = {
  readonly node: EditNode;
  readonly onDrag: StartDrag;
  /** What it moves, where several handles stand in sight. */
  readonly of?: string;
};

/** By pointer it is dragged, also by touch; by keyboard it lifts, and the canvas takes over (docs/rules.md B2). */
export function DragHandle({ node, onDrag, of }: HandleProps): ReactElement {
  const { editor } = useBuilder();
  return (
    <button
      type="button"
      className="drag-handle"
      aria-label={`Move${of ? ` ${of}` : ''}: Space lifts it, arrow keys move it`}
      onPointerDown={(event) => {
        event.stopPropagation();
        onDrag({ kind: 'move', key: node.key }, event);
      }}
      onKeyDown={(event) => {
        if (event.key !== ' ' && event.key !== 'Enter') return;
        event.preventDefault();
        event.stopPropagation();
        editor.select(node.key, 'node');
        editor.lift(node.key);
      }}
    >
      <Icon name="drag" />
    </button>
  );
}
