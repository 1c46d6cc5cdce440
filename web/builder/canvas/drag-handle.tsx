import type { ReactElement } from 'react';
import { Icon } from '../../design/icon.tsx';
import { useBuilder } from '../editor/use-editor.ts';
import type { EditNode } from '../model/edit-node.ts';
import type { StartDrag } from './drag.ts';

type HandleProps = {
  readonly node: EditNode;
  readonly onDrag: StartDrag;
  /** The name of the node, set if several handles are visible at the same time. */
  readonly of?: string;
};

/**
 * A handle that is dragged by a pointer, including touch. With the keyboard, it lifts the node, and then the
 * canvas handles the keys (docs/rules.md B2).
 */
export function DragHandle({ node, onDrag, of }: HandleProps): ReactElement {
  const { editor } = useBuilder();
  return (
    <button
      type="button"
      className="drag-handle"
      aria-label={`Move${of ? ` ${of}` : ''}: press Space to pick up, then use the arrow keys`}
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
