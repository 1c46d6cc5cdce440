import type { ReactElement } from 'react';
import { createPortal } from 'react-dom';
import { PipedText } from '../../design/author-text.tsx';
import type { Drag } from './drag.ts';

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
