import { type ReactElement, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { IconButton } from '../../design/button.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { titleOf } from '../model/compare.ts';
import { type EditNode, findNode, type NodeKey } from '../model/edit-node.ts';
import type { Spot } from '../model/places.ts';
import { elementOf } from './canvas-geometry.ts';
import { Gaps } from './gaps.tsx';
import { DragHandle } from './drag/drag-handle.tsx';
import { NodeMenu } from './node-menu.tsx';
import { duplicate } from '../editor/commands.ts';
import type { StartDrag } from './drag/use-drag.ts';

type OverlayProps = {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly isDragging: boolean;
  readonly onDrag: StartDrag;
  readonly onDelete: (key: NodeKey) => void;
  readonly onInsert: (anchor: Element, spot: Spot) => void;
};

type Frame = { left: number; top: number; width: number; height: number };

/** What lies over the selected part: a handle and its actions; and over all of it a "+" at every gap. */
export function Overlay({ host, isDragging, onDrag, onDelete, onInsert }: OverlayProps): ReactElement | null {
  const { editor, isReadOnly } = useBuilder();
  const state = useEditorState(editor);
  const { root, selection } = state.history.present;
  const layer = useRef<HTMLDivElement>(null);
  const frame = useFrame(layer, host, selection, root);
  const node = findNode(root, selection);
  if (isReadOnly) return <div ref={layer} className="overlay" />;
  return (
    <div ref={layer} className="overlay">
      {!isDragging && <Gaps layer={layer} host={host} onInsert={onInsert} />}
      {frame && node && node !== root && (
        // Hidden, not removed: a finger's drag ends with the handle that it began on.
        <div
          className="overlay-frame"
          data-dragging={isDragging || undefined}
          style={{ left: frame.left, top: frame.top, width: frame.width, height: frame.height }}
        >
          <div className="node-bar" role="toolbar" aria-label={titleOf(node.type)}>
            {(node.type !== 'step' || root.children.length > 1) && <DragHandle node={node} onDrag={onDrag} />}
            <span className="node-type">{titleOf(node.type)}</span>
            <IconButton
              icon="copy"
              label="Duplicate"
              size="small"
              onPress={() => duplicate(editor, node.key)}
            />
            <IconButton icon="remove" label="Delete" size="small" onPress={() => onDelete(node.key)} />
            <NodeMenu node={node} />
          </div>
        </div>
      )}
    </div>
  );
}

/** Where the selected part is, in the overlay's own coordinates; measured again when anything in it moves. */
function useFrame(
  layer: RefObject<HTMLDivElement | null>,
  host: RefObject<HTMLDivElement | null>,
  selection: NodeKey,
  root: EditNode,
): Frame | undefined {
  const [frame, setFrame] = useState<Frame | undefined>();
  useLayoutEffect(() => {
    const measure = (): void => {
      const element = elementOf(host.current, selection);
      const origin = layer.current?.getBoundingClientRect();
      if (!element || !origin) {
        setFrame(undefined);
        return;
      }
      const box = element.getBoundingClientRect();
      const next = {
        left: box.left - origin.left,
        top: box.top - origin.top,
        width: box.width,
        height: box.height,
      };
      setFrame((old) =>
        old &&
        old.left === next.left &&
        old.top === next.top &&
        old.width === next.width &&
        old.height === next.height
          ? old
          : next,
      );
    };
    measure();
    const observer = new ResizeObserver(measure);
    if (host.current) observer.observe(host.current);
    const element = elementOf(host.current, selection);
    if (element) observer.observe(element);
    return () => observer.disconnect();
  }, [layer, host, selection, root]);
  return frame;
}
