import { memo, type ReactElement, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { elementDefinitions, isElementType } from '#ast/form/elements.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { Tooltip } from '../../design/tooltip.tsx';
import { useNarrow } from '../../design/use-window.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { titleOfType } from '../model/compare.ts';
import { changeType } from '../model/edit.ts';
import { type EditNode, makeNode, pathToNode } from '../model/edit-node.ts';
import { convertibleTypes } from '../model/new-element.ts';
import { type InsertGap, listInsertGaps, type Spot } from '../model/node-positions.ts';
import { nodeCommands } from '../shortcuts/builder-commands.ts';
import { useNodeCommandTarget } from '../shortcuts/use-shortcuts.ts';
import { NodeMenu } from './canvas-node.tsx';
import type { StartDrag } from './drag.ts';
import { DragHandle } from './drag-layer.tsx';
import { findNodeElement, measureZones } from './page-markup.ts';
import { ElementIcon } from './palette.tsx';
import './gaps.css';
import { Icon } from '../../design/icon.tsx';

type GapsProps = {
  /** The layer above the canvas that defines the coordinates of the gaps. */
  readonly layer: RefObject<HTMLDivElement | null>;
  readonly host: RefObject<HTMLDivElement | null>;
  readonly onInsert: (anchor: Element, spot: Spot) => void;
};

/** A "+" at every position between elements (docs/rules.md B3). Tab reaches those beside the selection. */
function Gaps({ layer, host, onInsert }: GapsProps): ReactElement {
  const { editor } = useBuilder();
  const { root, selection, also = [] } = useEditorState(editor).history.present;
  const gaps = useGaps(layer, host, root);
  // With several selected nodes, there is no single position.
  const parent = also.length > 0 ? undefined : pathToNode(root, selection).at(-2);
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
            beside={offset === 0 ? 'before' : offset === 1 ? 'after' : undefined}
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
  /** The side of the selected element where the gap is. */
  readonly beside: 'before' | 'after' | undefined;
  readonly onInsert: GapsProps['onInsert'];
};

const InsertHere = memo(function InsertHere({ parent, index, x, y, size, beside, onInsert }: InsertProps) {
  return (
    <button
      type="button"
      className="insert-here"
      data-beside={beside}
      tabIndex={beside ? 0 : -1}
      aria-label={`Add an element ${beside ?? 'here'}`}
      style={{ left: x - size / 2, top: y - size / 2, width: size, height: size }}
      onClick={(event) => onInsert(event.currentTarget, { parent, index })}
    >
      <Icon name="add" />
    </button>
  );
});

/** The element for which gaps are measured. Every element fits where an input fits. */
const anyElement = [makeNode('text', {})];

/**
 * The delay before gaps are measured, in milliseconds, so that a series of keystrokes is handled first and
 * measured once.
 */
const measureDelay = 50;

/** Returns the gaps in the coordinates of the layer. Measures again when anything in the form moves. */
function useGaps(layer: GapsProps['layer'], host: GapsProps['host'], root: EditNode): readonly InsertGap[] {
  const [gaps, setGaps] = useState<readonly InsertGap[]>([]);
  useEffect(() => {
    const measure = (): void => {
      const origin = layer.current?.getBoundingClientRect();
      if (!host.current || !origin) return;
      const found = listInsertGaps(measureZones(host.current, root, anyElement));
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

/** Shows the type of an element as a name or an icon, with a menu of types that it can change to. */
function TypeMenu({ node, isIcon }: { node: EditNode; isIcon: boolean }): ReactElement | null {
  const { editor } = useBuilder();
  const types = convertibleTypes(node.type);
  const title = titleOfType(node.type);
  const face = isIcon ? isElementType(node.type) && <ElementIcon type={node.type} /> : title;
  if (types.length < 2) return face ? <span className="node-type">{face}</span> : null;
  const button = (
    <Button size="small" variant="quiet" className="node-type" aria-label={title}>
      {face}
    </Button>
  );
  return (
    <Menu
      placement="bottom start"
      items={types.map((type) => ({
        id: type,
        label: elementDefinitions[type].title,
        isCurrent: type === node.type,
        onAction: () =>
          editor.change((root) => ({
            root: changeType(root, node.key, type),
            focus: 'node',
            message: `${elementDefinitions[type].title} now`,
          })),
      }))}
    >
      {isIcon ? <Tooltip text={title}>{button}</Tooltip> : button}
    </Menu>
  );
}

type OverlayProps = {
  readonly host: RefObject<HTMLDivElement | null>;
  /** The container below the canvas. It shows the actions if there is no space beside the form. */
  readonly foot: HTMLElement | null;
  readonly isDragging: boolean;
  readonly onDrag: StartDrag;
  readonly onInsert: (anchor: Element, spot: Spot) => void;
};

/** The position of the actions beside the form, in the coordinates of the overlay. */
type Beside = { readonly left: number; readonly top: number };

/**
 * The layer above the form: a "+" at every gap, and the actions of the selection, which never cover it. The
 * actions are in the margin if it is wide enough, otherwise below the canvas.
 */
export function Overlay({ host, foot, isDragging, onDrag, onInsert }: OverlayProps): ReactElement | null {
  const { editor, isReadOnly } = useBuilder();
  const state = useEditorState(editor);
  const { root } = state.history.present;
  const layer = useRef<HTMLDivElement>(null);
  const { parts } = useNodeCommandTarget()();
  const beside = useBeside(layer, host, parts.map(({ key }) => key).join(' '), root);
  if (isReadOnly) return <div ref={layer} className="overlay" />;
  return (
    <div ref={layer} className="overlay" data-writing={state.editing?.option && ''}>
      {!isDragging && <Gaps layer={layer} host={host} onInsert={onInsert} />}
      {parts.length > 0 &&
        (beside ? (
          // Hidden, not removed: removing the handle would end a touch drag that began on it.
          <div
            className="beside-form"
            data-dragging={isDragging || undefined}
            style={{ left: beside.left, top: `min(${beside.top}px, 100% - 11rem)` }}
          >
            <NodeBar parts={parts} root={root} onDrag={onDrag} />
          </div>
        ) : (
          foot && createPortal(<NodeBar parts={parts} root={root} />, foot)
        ))}
    </div>
  );
}

type BarProps = {
  readonly parts: readonly EditNode[];
  readonly root: EditNode;
  /** If set, the actions are in a column with a drag handle; otherwise, in a row with move buttons. */
  readonly onDrag?: StartDrag;
};

/** The actions of the selected nodes. The last button opens a menu of less common actions. */
function NodeBar({ parts, root, onDrag }: BarProps): ReactElement {
  const on = useNodeCommandTarget()();
  const isNarrow = useNarrow();
  const [node] = parts;
  const { up, down, duplicate, remove, require } = nodeCommands;
  const deeds = onDrag ? [duplicate, remove] : isNarrow ? [up, down, remove] : [up, down, duplicate, remove];
  const isColumn = onDrag !== undefined;
  return (
    <div
      className="node-bar"
      role="toolbar"
      aria-orientation={isColumn ? 'vertical' : 'horizontal'}
      aria-label={parts.length === 1 ? titleOfType(node!.type) : 'Actions for the selection'}
    >
      {onDrag && (node!.type !== 'step' || root.children.length > 1) && (
        <DragHandle node={node!} onDrag={onDrag} />
      )}
      {parts.length === 1 ? (
        <TypeMenu node={node!} isIcon={isColumn} />
      ) : (
        <span className="node-type">
          {parts.length}
          {!isColumn && ' selected'}
        </span>
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
  );
}

/**
 * The distance from the elements to their actions, clear of the outline and the "+", and the width of the
 * actions (canvas.css).
 */
const [margin, barWidth] = [18, 30];

/**
 * Returns the position of the actions beside the form, at the height of the first selected node. All nodes
 * share one column. Measures again when anything moves.
 */
function useBeside(
  layer: RefObject<HTMLDivElement | null>,
  host: RefObject<HTMLDivElement | null>,
  keys: string,
  root: EditNode,
): Beside | undefined {
  const [beside, setBeside] = useState<Beside | undefined>();
  useLayoutEffect(() => {
    const found = (): HTMLElement[] =>
      keys.split(' ').flatMap((key) => findNodeElement(host.current, key) ?? []);
    const measure = (): void => {
      const origin = layer.current?.getBoundingClientRect();
      const elements = found();
      if (elements.length === 0 || !origin) {
        setBeside(undefined);
        return;
      }
      const ends = elements.map((element) => (element.closest('section') ?? element).getBoundingClientRect());
      const left = Math.max(...ends.map(({ right }) => right)) - origin.left + margin;
      const top = Math.min(...elements.map((element) => element.getBoundingClientRect().top)) - origin.top;
      const next = left + barWidth > origin.width ? undefined : { left, top };
      setBeside((old) => (old?.left === next?.left && old?.top === next?.top ? old : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    if (host.current) observer.observe(host.current);
    for (const element of found()) observer.observe(element);
    return () => observer.disconnect();
  }, [layer, host, keys, root]);
  return beside;
}
