import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { BuilderPlace } from '../../editor/use-editor.ts';
import { type Drag, type DragSource, startDrag } from './drag.ts';
import { startMarquee } from './marquee.ts';

/** Begins to drag what is named, or without a name to select what lies between the press and the pointer. */
export type StartDrag = (source: DragSource | undefined, event: React.PointerEvent) => void;

/**
 * Drag and drop by pointer: mouse, pen, and by a handle touch. `start` is called by a pointerdown; a click is still a
 * click. The keyboard has a way of its own (editor.lift).
 */
export function useDrag(
  { editor, isReadOnly }: BuilderPlace,
  host: RefObject<HTMLDivElement | null>,
  scroller: RefObject<HTMLDivElement | null>,
  stepsList: RefObject<HTMLOListElement | null>,
): { drag: Drag | undefined; start: StartDrag } {
  const [drag, setDrag] = useState<Drag | undefined>();
  const stop = useRef<() => void>(() => {});
  useEffect(() => () => stop.current(), []);
  const start: StartDrag = useCallback(
    (source, event) => {
      if (event.button !== 0 || (isReadOnly && source) || !host.current || !scroller.current) return;
      const ground = {
        editor,
        host: host.current,
        scroller: scroller.current,
        stepsList: stepsList.current,
        onChange: setDrag,
      };
      stop.current = source
        ? startDrag(ground, source, event.nativeEvent)
        : startMarquee(ground, event.nativeEvent);
    },
    [editor, isReadOnly, host, scroller, stepsList],
  );
  return { drag, start };
}
