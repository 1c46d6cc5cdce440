import {
  createElement,
  memo,
  type ReactNode,
  type RefObject,
  useEffectEvent,
  useLayoutEffect,
  useRef,
} from 'react';
import { elements, isElementType } from '#ast/elements.ts';
import { extendTo } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import { setAttribute, setLabel } from '../model/edit.ts';
import { type EditNode, textOf } from '../model/edit-node.ts';
import { toggled } from '../model/selection.ts';
import { LogicBadge, logicBadgeElement } from './logic-badge.tsx';
import { type Markup, reactAttributes, slotSelector } from './page-markup.ts';
import { labelElement, writeLabel } from './write-label.ts';

/** How a node stands on the canvas right now. All are simple values, so that only what changed is drawn again. */
type NodeLook = {
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
  readonly isLifted: boolean;
  readonly isWriting: boolean;
  /** What a screen reader says: what it is, where it is, what is wrong with it. */
  readonly words: string;
  readonly hasProblem: boolean;
  /** The sentences of its logic, packed (logic-badge.tsx); empty for none. */
  readonly logic: string;
};

type CanvasNodeProps = NodeLook & {
  readonly node: EditNode;
  readonly markup: Markup;
  readonly editor: Editor;
  readonly lockedIds: ReadonlySet<string>;
  /** What stands in the slot of a step or a composite. */
  readonly children?: ReactNode;
};

/** One node of the form: the page's own markup, which can be selected, focused, and written on. */
export const CanvasNode = memo(function CanvasNode({
  node,
  markup,
  editor,
  lockedIds,
  children,
  ...look
}: CanvasNodeProps): ReactNode {
  const ref = useRef<HTMLElement>(null);
  const slot = children === undefined ? null : markup.querySelector(slotSelector);
  useInnerMarkup(ref, slot ? undefined : markup, look.isWriting, look.logic);
  useWriting(ref, node, editor, lockedIds, look.isWriting);
  const { key } = node;
  return createElement(
    markup.localName,
    {
      ...reactAttributes(markup),
      ref,
      'data-key': key,
      'data-selected': look.isSelected || undefined,
      'data-lifted': look.isLifted || undefined,
      'data-problem': look.hasProblem || undefined,
      // A heading stays one, also for who jumps from heading to heading; it may have no other role.
      role: /^h\d$/.test(markup.localName) ? undefined : 'group',
      'aria-roledescription': 'form part',
      'aria-label': look.words,
      tabIndex: look.isTabStop ? 0 : -1,
      onFocus: (event: React.FocusEvent) => {
        if (event.target === event.currentTarget) editor.select(key);
      },
      onMouseDown: (event: React.MouseEvent<HTMLElement>) => {
        // The focus would select this one alone, and the browser would mark text.
        if (howMany(event) !== 'one') event.preventDefault();
      },
      onClick: (event: React.MouseEvent<HTMLElement>) => {
        event.stopPropagation();
        event.preventDefault();
        const many = howMany(event);
        if (many === 'range') extendTo(editor, node);
        if (many === 'toggle') editor.selectAll(toggled(editor.read().history.present, node));
        if (many !== 'one') return;
        const label = labelElement(event.currentTarget);
        const isOnLabel = label?.contains(event.target as Node) ?? false;
        if (look.isSelected && isOnLabel) editor.editLabel(key);
        else editor.select(key, 'node');
      },
      onDoubleClick: (event: React.MouseEvent<HTMLElement>) => {
        event.stopPropagation();
        editor.editLabel(key);
      },
    },
    slot
      ? [
          look.logic !== '' && <LogicBadge key="logic" packed={look.logic} />,
          ...[...markup.children].map((child, index) =>
            fillSlot(child, slot, key, children, look.isWriting, index),
          ),
        ]
      : undefined,
  );
});

/** With Shift a click selects all up to what is clicked, with Ctrl or Command that as well or no more. */
function howMany(event: React.MouseEvent): 'one' | 'range' | 'toggle' {
  if (event.shiftKey) return 'range';
  return event.ctrlKey || event.metaKey ? 'toggle' : 'one';
}

/** The markup around a slot as React elements, with the slot filled; what does not hold the slot stays markup. */
function fillSlot(
  element: Element,
  slot: Element,
  key: string,
  children: ReactNode,
  isWriting: boolean,
  index: number,
): ReactNode {
  if (element === slot)
    return createElement(
      element.localName,
      { ...reactAttributes(element), key: index, 'data-slot': key },
      children,
    );
  if (!element.contains(slot)) return <StillMarkup key={index} markup={element} isWriting={isWriting} />;
  const inner = [...element.children].map((child, at) => fillSlot(child, slot, key, children, isWriting, at));
  return createElement(element.localName, { ...reactAttributes(element), key: index }, inner);
}

/** Markup that nobody selects by itself: a legend, a heading, a button. */
export function StillMarkup({
  markup,
  isWriting = false,
}: {
  markup: Markup;
  isWriting?: boolean;
}): ReactNode {
  const ref = useRef<HTMLElement>(null);
  useInnerMarkup(ref, markup, isWriting);
  const isText = markup.matches('label, legend, h1, h2, p');
  return createElement(markup.localName, { ...reactAttributes(markup), ref, inert: !isText });
}

/** Writes the inside of a node, but not while its label is being written: that would throw the writer out. */
function useInnerMarkup(
  ref: RefObject<HTMLElement | null>,
  markup: Markup | undefined,
  isWriting: boolean,
  logic = '',
): void {
  const inside = markup?.innerHTML;
  useLayoutEffect(() => {
    const element = ref.current;
    const isNew = element?.firstChild === null;
    if (!element || inside === undefined || (isWriting && !isNew)) return;
    element.innerHTML = inside;
    // Controls are pictures of themselves here: a click on one selects its element.
    for (const child of element.children)
      if (!child.matches('label, legend, h1, h2, span, br, bdi')) child.toggleAttribute('inert', true);
    if (logic !== '') element.append(logicBadgeElement(logic));
  }, [ref, inside, isWriting, logic]);
}

/** Which attribute holds the text that stands on the canvas; none of what has no such text. */
function textAttribute({ type }: EditNode): 'name' | 'title' | 'label' | 'text' | undefined {
  if (type === 'form') return 'name';
  if (type === 'step') return 'title';
  return isElementType(type)
    ? (['label', 'text'] as const).find((name) => Object.hasOwn(elements[type].attrs, name))
    : undefined;
}

/** What a screen reader calls the text box for each. */
const namesOfTexts = {
  name: 'Name of the form',
  title: 'Title of the step',
  label: 'Label',
  text: 'Text',
} as const;

function useWriting(
  ref: RefObject<HTMLElement | null>,
  node: EditNode,
  editor: Editor,
  lockedIds: ReadonlySet<string>,
  isWriting: boolean,
): void {
  const { key } = node;
  // The node changes with every letter; the text box lives from the first to the last.
  const begin = useEffectEvent(() => {
    if (!ref.current) return undefined;
    const label = labelElement(ref.current);
    const name = textAttribute(node);
    if (!label || !name) {
      editor.select(key, 'panel');
      editor.editLabel(undefined);
      return undefined;
    }
    return writeLabel(label, {
      text: textOf(node, name),
      name: namesOfTexts[name],
      isMultiline: node.type === 'paragraph' || name === 'text',
      onInput: (text) =>
        editor.change(
          (root) => ({
            root:
              name === 'label' ? setLabel(root, key, text, lockedIds) : setAttribute(root, key, name, text),
          }),
          `${name} ${key}`,
        ),
      onEnd: (byKey) => {
        editor.editLabel(undefined);
        if (byKey) editor.select(key, 'node');
      },
    });
  });
  useLayoutEffect(() => (isWriting ? begin() : undefined), [isWriting]);
}
