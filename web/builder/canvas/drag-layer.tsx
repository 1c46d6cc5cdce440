import type { ReactElement } from 'react';
import { createPortal } from 'react-dom';
import { PipedText } from '../../design/author-text.tsx';
import { Icon } from '../../design/icon.tsx';
import { useBuilder } from '../editor/use-editor.ts';
import type { EditNode } from '../model/edit-node.ts';
import type { Drag, StartDrag } from './drag.ts';

/** Shows the title at the pointer and a line at the drop position during a drag. */
export function DragLayer({ drag }: { drag: Drag | undefined }): ReactElement | null {
  if (!drag) return null;
  const line = drag.place?.line;
  const isVertical = line !== undefined && line.left === line.right;
  return (
    <>
      {createPortal(
        <div className="drag-layer" aria-hidden="true">
          {line && (
            <div
              className="drop-line"
              style={{
                left: line.left - (isVertical ? 2 : 0),
                top: line.top - (isVertical ? 0 : 2),
                width: isVertical ? 4 : line.right - line.left,
                height: isVertical ? line.bottom - line.top : 4,
              }}
            />
          )}
          <div className="drag-title" style={{ left: drag.x + 14, top: drag.y + 10 }}>
            <PipedText text={drag.title} />
          </div>
        </div>,
        document.body,
      )}
    </>
  );
}

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
