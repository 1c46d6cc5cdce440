import { type ReactElement, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { IconButton } from '../../design/button.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { titleOf } from '../model/compare.ts';
import type { EditNode } from '../model/edit-node.ts';
import type { Spot } from '../model/places.ts';
import { elementOf } from './canvas-geometry.ts';
import { Gaps } from './gaps.tsx';
import { DragHandle } from './drag/drag-handle.tsx';
import { NodeMenu } from './node-menu.tsx';
import { onParts } from '../shortcuts/deeds.ts';
import { useOnParts } from '../shortcuts/on-parts.ts';
import { TypeMenu } from './type-menu.tsx';
import type { StartDrag } from './drag/use-drag.ts';
import { useNarrow } from '../../design/use-window.ts';

type OverlayProps = {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly isDragging: boolean;
  readonly onDrag: StartDrag;
  readonly onInsert: (anchor: Element, spot: Spot) => void;
};

type Frame = { left: number; top: number; width: number; height: number };

/** What lies over the selected part: a handle and its actions; and over all of it a "+" at every gap. */
export function Overlay({ host, isDragging, onDrag, onInsert }: OverlayProps): ReactElement | null {
  const { editor, isReadOnly } = useBuilder();
  const state = useEditorState(editor);
  const { root } = state.history.present;
  const layer = useRef<HTMLDivElement>(null);
  const on = useOnParts()();
  const { parts } = on;
  const keys = parts.map(({ key }) => key).join(' ');
  const frame = useFrame(layer, host, keys, root);
  const [node] = parts;
  const { up, down, duplicate, remove, require } = onParts;
  // Where a finger works, what moves a part stands here, and what is done less often behind the button for more.
  const deeds = useNarrow() ? [up, down, remove] : [duplicate, remove];
  if (isReadOnly) return <div ref={layer} className="overlay" />;
  return (
    <div ref={layer} className="overlay" data-writing={state.editing?.option && ''}>
      {!isDragging && <Gaps layer={layer} host={host} onInsert={onInsert} />}
      {frame && node && (
        // Hidden, not removed: a finger's drag ends with the handle that it began on.
        <div
          className="overlay-frame"
          data-dragging={isDragging || undefined}
          style={{ left: frame.left, top: frame.top, width: frame.width, height: frame.height }}
        >
          <div
            className="node-bar"
            role="toolbar"
            aria-label={parts.length === 1 ? titleOf(node.type) : 'Selected parts'}
          >
            {(node.type !== 'step' || root.children.length > 1) && <DragHandle node={node} onDrag={onDrag} />}
            {parts.length === 1 ? (
              <TypeMenu node={node} />
            ) : (
              <span className="node-type">{parts.length} selected</span>
            )}
            {require.appliesTo?.(on) && (
              <IconButton
                icon="required"
                label={require.label}
                size="small"
                aria-pressed={require.isOn?.(on)}
                onPress={() => require.perform(on)}
              />
            )}
            {deeds.map(
              (deed) =>
                deed.icon && (
                  <IconButton
                    key={deed.label}
                    icon={deed.icon}
                    label={deed.label}
                    size="small"
                    isDisabled={deed.appliesTo?.(on) === false}
                    onPress={() => deed.perform(on)}
                  />
                ),
            )}
            <NodeMenu parts={parts} />
          </div>
        </div>
      )}
    </div>
  );
}

/** Where the selected parts are, in the overlay's own coordinates; measured again when anything in them moves. */
function useFrame(
  layer: RefObject<HTMLDivElement | null>,
  host: RefObject<HTMLDivElement | null>,
  keys: string,
  root: EditNode,
): Frame | undefined {
  const [frame, setFrame] = useState<Frame | undefined>();
  useLayoutEffect(() => {
    const found = (): HTMLElement[] => keys.split(' ').flatMap((key) => elementOf(host.current, key) ?? []);
    const measure = (): void => {
      const boxes = found().map((element) => element.getBoundingClientRect());
      const origin = layer.current?.getBoundingClientRect();
      if (boxes.length === 0 || !origin) {
        setFrame(undefined);
        return;
      }
      const [left, top] = [
        Math.min(...boxes.map((box) => box.left)),
        Math.min(...boxes.map((box) => box.top)),
      ];
      const next = {
        left: left - origin.left,
        top: top - origin.top,
        width: Math.max(...boxes.map(({ right }) => right)) - left,
        height: Math.max(...boxes.map(({ bottom }) => bottom)) - top,
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
    for (const element of found()) observer.observe(element);
    return () => observer.disconnect();
  }, [layer, host, keys, root]);
  return frame;
}
