import './gaps.css';
import { memo, type ReactElement, type RefObject, useEffect, useState } from 'react';
import { Icon } from '../../design/icon.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { type Gap, listGaps } from '../model/drop-place.ts';
import { type EditNode, makeNode, trailTo } from '../model/edit-node.ts';
import type { Spot } from '../model/places.ts';
import { measureZones } from './canvas-geometry.ts';

type GapsProps = {
  /** What the gaps are laid over, and whose coordinates they have. */
  readonly layer: RefObject<HTMLDivElement | null>;
  readonly host: RefObject<HTMLDivElement | null>;
  readonly onInsert: (anchor: Element, spot: Spot) => void;
};

/** A "+" at every place between elements (docs/rules.md B3). Those beside the selection are reached by Tab as well. */
export function Gaps({ layer, host, onInsert }: GapsProps): ReactElement {
  const { editor } = useBuilder();
  const { root, selection, also = [] } = useEditorState(editor).history.present;
  const gaps = useGaps(layer, host, root);
  // Beside several there is no one place.
  const parent = also.length > 0 ? undefined : trailTo(root, selection).at(-2);
  const at = parent?.children.findIndex(({ key }) => key === selection) ?? -1;
  return (
    <>
      {gaps.map(({ spot, x, y, size }) => {
        const offset = spot.parent === parent?.key ? spot.index - at : -1;
        return (
          <InsertHere
            key={`${spot.parent} ${spot.index}`}
            parent={spot.parent}
            index={spot.index}
            x={x}
            y={y}
            size={size}
            beside={offset === 0 ? 'before' : offset === 1 ? 'behind' : undefined}
            onInsert={onInsert}
          />
        );
      })}
    </>
  );
}

type InsertProps = Spot & {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  /** On which side of the selected element it is. */
  readonly beside: 'before' | 'behind' | undefined;
  readonly onInsert: GapsProps['onInsert'];
};

const InsertHere = memo(function InsertHere({ parent, index, x, y, size, beside, onInsert }: InsertProps) {
  return (
    <button
      type="button"
      className="insert-here"
      data-beside={beside}
      tabIndex={beside ? 0 : -1}
      aria-label={beside ? `Add an element ${beside}` : 'Add an element here'}
      style={{ left: x - size / 2, top: y - size / 2, width: size, height: size }}
      onClick={(event) => onInsert(event.currentTarget, { parent, index })}
    >
      <Icon name="add" />
    </button>
  );
});

/** What is asked for when gaps are measured: any element goes wherever an input goes. */
const anyElement = [makeNode('text', {})];

/** In milliseconds: a series of keys is answered first, and its gaps are measured once. */
const measureDelay = 50;

/** The gaps in the layer's own coordinates; measured again when anything in the form moves. */
function useGaps(layer: GapsProps['layer'], host: GapsProps['host'], root: EditNode): readonly Gap[] {
  const [gaps, setGaps] = useState<readonly Gap[]>([]);
  useEffect(() => {
    const measure = (): void => {
      const origin = layer.current?.getBoundingClientRect();
      if (!host.current || !origin) return;
      const found = listGaps(measureZones(host.current, root, anyElement));
      setGaps(found.map((gap) => ({ ...gap, x: gap.x - origin.left, y: gap.y - origin.top })));
    };
    let timer = setTimeout(measure, measureDelay);
    const observer = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(measure, measureDelay);
    });
    if (host.current) observer.observe(host.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [layer, host, root]);
  return gaps;
}
