import {
  createElement,
  memo,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useEffectEvent,
  useLayoutEffect,
  useRef,
} from 'react';
import { elementDefinitions, isElementType } from '#ast/form/elements.ts';
import { SentenceText } from '../../conditions/condition-editor.tsx';
import type { Sentence } from '../../conditions/describe-condition.ts';
import { IconButton } from '../../design/button.tsx';
import { splitPipedText } from '../../design/marked-text.ts';
import { Menu, type MenuAction } from '../../design/menu.tsx';
import { formatKeys } from '../../shell/keyboard-shortcuts.ts';
import { extendSelectionTo } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import type { TextEdit } from '../editor/editor-state.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { setAttribute, setLabel } from '../model/edit.ts';
import { type EditNode, textOf } from '../model/edit-node.ts';
import { toggleInSelection } from '../model/node-positions.ts';
import {
  type BuilderCommand,
  listMenuCommands,
  type NodeCommandTarget,
} from '../shortcuts/builder-commands.ts';
import { useNodeCommandTarget } from '../shortcuts/use-shortcuts.ts';
import {
  editLabel,
  editOption,
  findBlankOptions,
  findLabelElement,
  optionAt,
  type PublishedNames,
} from './edit-text.ts';
import { type Markup, slotSelector, toReactAttributes } from './page-markup.ts';

/**
 * Packs the logic sentences of a node into a string, so that the node re-renders only if the sentences
 * change.
 */
export const serializeSentences = (sentences: readonly Sentence[]): string =>
  sentences.length === 0 ? '' : JSON.stringify(sentences);

const unpack = (packed: string): readonly Sentence[] => JSON.parse(packed) as Sentence[];

/** Shows on the node which conditions decide whether it appears (docs/rules.md B7). */
function LogicBadge({ packed }: { packed: string }): ReactNode {
  return (
    <div className="logic-badge">
      {unpack(packed).map((sentence, index) => (
        <p key={index}>
          <SentenceText sentence={sentence} />
        </p>
      ))}
    </div>
  );
}

/** Builds the logic badge for an element whose content is page markup. */
function logicBadgeElement(packed: string): HTMLElement {
  const badge = document.createElement('div');
  badge.className = 'logic-badge';
  for (const sentence of unpack(packed)) {
    const line = document.createElement('p');
    for (const { text, isStrong } of sentence) {
      const word = document.createElement(isStrong ? 'em' : 'span');
      word.append(
        ...splitPipedText(text).map((part, index) => {
          if (index % 2 === 0) return part;
          const label = document.createElement('bdi');
          label.className = 'piped';
          label.textContent = part;
          return label;
        }),
      );
      line.append(word);
    }
    badge.append(line);
  }
  return badge;
}

/** How a node looks on the canvas. All values are primitives, so that only changed nodes re-render. */
type NodeLook = {
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
  readonly isLifted: boolean;
  /** The text of the node that is being edited. */
  readonly writing: TextEdit | undefined;
  /** The screen reader description: the element type, its position and its problems. */
  readonly words: string;
  readonly hasProblem: boolean;
  /** The packed logic sentences (`LogicBadge`), or an empty string. */
  readonly logic: string;
};

type CanvasNodeProps = NodeLook & {
  readonly node: EditNode;
  readonly markup: Markup;
  readonly editor: Editor;
  readonly names: PublishedNames;
  /** The content of the slot, for a step or a composite. */
  readonly children?: ReactNode;
};

/** A node of the form: the page's markup, with selection, focus and text editing. */
export const CanvasNode = memo(function CanvasNode({
  node,
  markup,
  editor,
  names,
  children,
  ...look
}: CanvasNodeProps): ReactNode {
  const ref = useRef<HTMLElement>(null);
  // Whether the node was selected before the press, because a press focuses the node and so selects it. The
  // first click on an option selects its element.
  const wasSelected = useRef(false);
  const slot = children === undefined ? null : markup.querySelector(slotSelector);
  useInnerMarkup(ref, slot ? undefined : markup, look.writing, look.logic);
  useBlanks(ref, node, markup, look.writing);
  useTextEdit(ref, node, editor, names, look.writing);
  const { key } = node;
  return createElement(
    markup.localName,
    {
      ...toReactAttributes(markup),
      ref,
      'data-key': key,
      'data-selected': look.isSelected || undefined,
      'data-lifted': look.isLifted || undefined,
      'data-problem': look.hasProblem || undefined,
      // A heading keeps its role, so that screen readers can navigate by headings.
      role: /^h\d$/.test(markup.localName) ? undefined : 'group',
      'aria-roledescription': 'form part',
      'aria-label': look.words,
      tabIndex: look.isTabStop ? 0 : -1,
      onFocus: (event: React.FocusEvent) => {
        if (event.target === event.currentTarget) editor.select(key);
      },
      onPointerDown: () => {
        wasSelected.current = look.isSelected;
      },
      onMouseDown: (event: React.MouseEvent<HTMLElement>) => {
        // Without this, focus would select only this node, and the browser would select text.
        if (howMany(event) !== 'one') event.preventDefault();
      },
      onClick: (event: React.MouseEvent<HTMLElement>) => {
        event.stopPropagation();
        event.preventDefault();
        const many = howMany(event);
        if (many === 'range') extendSelectionTo(editor, node);
        if (many === 'toggle') editor.selectAll(toggleInSelection(editor.read().history.present, node));
        if (many !== 'one') return;
        const at = { x: event.clientX, y: event.clientY };
        const target = event.target as Node;
        const option = wasSelected.current && optionAt(event.currentTarget, node, event.nativeEvent);
        if (option) editor.write({ key, ...option });
        else if (findLabelElement(event.currentTarget)?.contains(target) && textAttribute(node))
          editor.write({ key, at });
        else editor.select(key, 'node');
      },
      onDoubleClick: (event: React.MouseEvent<HTMLElement>) => {
        event.stopPropagation();
        editor.write({ key });
      },
    },
    slot
      ? [
          look.logic !== '' && <LogicBadge key="logic" packed={look.logic} />,
          ...[...markup.children].map((child, index) =>
            fillSlot(child, slot, key, children, look.writing, index),
          ),
        ]
      : undefined,
  );
});

/**
 * A Shift-click extends the selection to the clicked node. A Ctrl-click or Command-click adds or removes the
 * node.
 */
function howMany(event: React.MouseEvent): 'one' | 'range' | 'toggle' {
  if (event.shiftKey) return 'range';
  return event.ctrlKey || event.metaKey ? 'toggle' : 'one';
}

/**
 * Converts the markup around a slot to React elements and fills the slot. Markup outside the path to the slot
 * stays markup.
 */
function fillSlot(
  element: Element,
  slot: Element,
  key: string,
  children: ReactNode,
  writing: TextEdit | undefined,
  index: number,
): ReactNode {
  if (element === slot)
    return createElement(
      element.localName,
      { ...toReactAttributes(element), key: index, 'data-slot': key },
      children,
    );
  if (!element.contains(slot)) return <StaticMarkup key={index} markup={element} writing={writing} />;
  const inner = [...element.children].map((child, at) => fillSlot(child, slot, key, children, writing, at));
  return createElement(element.localName, { ...toReactAttributes(element), key: index }, inner);
}

/** Markup that cannot be selected separately: a legend, a heading, a button. */
export function StaticMarkup({
  markup,
  writing,
}: {
  markup: Markup;
  writing?: TextEdit | undefined;
}): ReactNode {
  const ref = useRef<HTMLElement>(null);
  useInnerMarkup(ref, markup, writing);
  const isText = markup.matches('label, legend, h1, h2, p');
  return createElement(markup.localName, { ...toReactAttributes(markup), ref, inert: !isText });
}

/** Updates the markup inside a node, except during text editing, which would be interrupted. */
function useInnerMarkup(
  ref: RefObject<HTMLElement | null>,
  markup: Markup | undefined,
  writing: TextEdit | undefined,
  logic = '',
): void {
  const inside = markup?.innerHTML;
  const drawnFor = useRef(writing);
  useLayoutEffect(() => {
    const element = ref.current;
    const isNew = element?.firstChild === null || drawnFor.current !== writing;
    if (!element || inside === undefined || (writing && !isNew)) return;
    drawnFor.current = writing;
    element.innerHTML = inside;
    // Controls are not interactive here. A click on one selects its element; a click on an option edits the
    // option.
    for (const child of element.children) {
      const pictures = child.matches('.options, .matrix_box')
        ? child.querySelectorAll('input, button')
        : child.matches('label, legend, h1, h2, span, br, bdi')
          ? []
          : [child];
      for (const picture of pictures) picture.toggleAttribute('inert', true);
    }
    if (logic !== '') element.append(logicBadgeElement(logic));
  }, [ref, inside, writing, logic]);
}

/** Marks options without a label, which show placeholder text. */
function useBlanks(
  ref: RefObject<HTMLElement | null>,
  node: EditNode,
  markup: Markup,
  writing: TextEdit | undefined,
): void {
  useLayoutEffect(() => {
    if (ref.current) for (const place of findBlankOptions(ref.current, node)) place.dataset['blank'] = '';
  }, [ref, node, markup, writing]);
}

/** Returns the attribute of the text shown on the canvas, or nothing if the node has none. */
function textAttribute({ type }: EditNode): 'name' | 'title' | 'label' | 'text' | undefined {
  if (type === 'form') return 'name';
  if (type === 'step') return 'title';
  return isElementType(type)
    ? (['label', 'text'] as const).find((name) => Object.hasOwn(elementDefinitions[type].attrs, name))
    : undefined;
}

/** The screen reader names of the text boxes. */
const namesOfTexts = { name: 'Form name', title: 'Step title', label: 'Label', text: 'Text' } as const;

function useTextEdit(
  ref: RefObject<HTMLElement | null>,
  node: EditNode,
  editor: Editor,
  names: PublishedNames,
  writing: TextEdit | undefined,
): void {
  const { key } = node;
  // The node changes with every keystroke, but the text box stays until editing ends.
  const read = useEffectEvent(() => node);
  const begin = useEffectEvent((wanted: TextEdit) => {
    if (!ref.current) return undefined;
    const onEnd = (byKey: boolean): void => {
      editor.write(undefined);
      if (byKey) editor.select(key, 'node');
    };
    const at = wanted.at && { at: wanted.at };
    if (wanted.option) {
      const place = { element: ref.current, editor, read, names, onEnd };
      return editOption(place, wanted.option, at ?? {});
    }
    const label = findLabelElement(ref.current);
    const name = textAttribute(node);
    if (!label || !name) {
      editor.select(key, 'panel');
      editor.write(undefined);
      return undefined;
    }
    return editLabel(label, {
      text: textOf(node, name),
      name: namesOfTexts[name],
      isMultiline: node.type === 'paragraph' || name === 'text',
      ...at,
      onInput: (text) =>
        editor.change(
          (root) => ({
            root:
              name === 'label'
                ? setLabel(root, key, text, names.lockedIds)
                : setAttribute(root, key, name, text),
          }),
          `${name} ${key}`,
        ),
      onEnd,
    });
  });
  useLayoutEffect(() => (writing ? begin(writing) : undefined), [writing]);
}

/**
 * A menu with every action on nodes, without the keyboard or dragging (WCAG 2.2, 2.5.7), from the table of
 * commands.
 */
export function NodeMenu({ parts }: { parts: readonly EditNode[] }): ReactElement {
  const { editor } = useBuilder();
  useEditorState(editor);
  const on = useNodeCommandTarget()({ parts });
  const groups = Map.groupBy(listMenuCommands(on), ([, { menu }]) => menu);
  const items = [...groups.values()].flatMap((group, index): MenuAction[] => [
    ...(index === 0 ? [] : [{ id: `line ${index}`, separator: true } as const]),
    ...group.map(([name, deed]) => itemOf(name, deed, on)),
  ]);
  return (
    <Menu items={items}>
      <IconButton icon="more" label="More actions" size="small" />
    </Menu>
  );
}

function itemOf(name: string, deed: BuilderCommand<NodeCommandTarget>, on: NodeCommandTarget): MenuAction {
  const { label, icon, presses, choices } = deed;
  if (choices)
    return {
      id: name,
      heading: label,
      items: choices(on).map(({ perform, ...choice }) => ({ ...choice, onAction: perform })),
    };
  return {
    id: name,
    label,
    ...(icon && { icon }),
    ...(presses[0] !== undefined && { press: formatKeys(presses[0]) }),
    onAction: () => deed.perform(on),
  };
}
