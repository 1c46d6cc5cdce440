import type { AttributeSpecs } from '#ast/attributes/attributes.ts';
import { type Option, optionLabelOf } from '#ast/basics/options.ts';
import { elementDefinitions, isElementType } from '#ast/form/elements.ts';
import { validOptionsOf } from '../../conditions/condition-tree.ts';
import { toastProblem } from '../../design/toast.tsx';
import type { Editor } from '../editor/editor.ts';
import type { TextEdit } from '../editor/editor-state.ts';
import type { BuilderContextValue } from '../editor/use-editor.ts';
import { setOptions } from '../model/edit.ts';
import { type EditNode, textOf } from '../model/edit-node.ts';
import { handleOptionKey, optionPlaceholder, pasteOptionList, relabelOption } from '../model/options-text.ts';

/** Finds the elements of the first `count` options of a question, or rows of a matrix, in its markup. */
function optionElements(node: HTMLElement, name: 'options' | 'rows', count: number): readonly HTMLElement[] {
  const selector =
    name === 'rows' ? '.matrix tbody th' : '.options > .option > span:first-of-type, .matrix thead th';
  return [...node.querySelectorAll<HTMLElement>(selector)].slice(0, count);
}

/** How a label or an option is edited on the canvas. */
type TextBoxOptions = {
  readonly text: string;
  /** The screen reader name of the text box. */
  readonly name: string;
  /** A paragraph accepts line breaks. In other texts, Enter ends editing. */
  readonly isMultiline: boolean;
  /** Shown while the text is empty. */
  readonly placeholder?: string;
  /** The click position for the caret. Without it, the whole text is selected. */
  readonly at?: { readonly x: number; readonly y: number };
  onInput(text: string): void;
  /** Returns whether the key or the pasted text was handled. If so, its default action is skipped. */
  onKey?(event: KeyboardEvent, text: string): boolean;
  onPaste?(text: string): boolean;
  /** If `byKey` is true, focus returns to the element. */
  onEnd(byKey: boolean): void;
};

/** Finds the text of a node in its markup: its label, or the node itself if it is a text. */
export function findLabelElement(node: HTMLElement): HTMLElement | null {
  if (node.matches('h2, h3, .prose')) return node;
  return node.querySelector<HTMLElement>(':scope > :is(label, legend, h1, h2)');
}

/**
 * Turns the text of a label into a text box, and keeps the label's other content ("required", "Step 1 of 2",
 * an image). Key events do not leave the box. Returns a function that removes the box; the caller then
 * renders the label.
 */
export function editLabel(label: HTMLElement, writing: TextBoxOptions): () => void {
  const box = document.createElement('span');
  box.className = 'written';
  box.setAttribute('contenteditable', 'plaintext-only');
  box.setAttribute('role', 'textbox');
  box.setAttribute('aria-label', writing.name);
  box.setAttribute('aria-multiline', String(writing.isMultiline));
  if (writing.placeholder !== undefined) box.dataset['placeholder'] = writing.placeholder;
  box.textContent = writing.text;
  // Formatted text is shown as elements, but edited as plain text with its formatting characters.
  const isText = (child: ChildNode): boolean =>
    child instanceof Element
      ? child.matches('a, b, i, bdi, p, ul, ol, h2, h3, h4')
      : child.textContent?.trim() !== '';
  for (const child of Array.from(label.childNodes).filter(isText)) child.remove();
  label.insertBefore(box, label.querySelector(':scope > :is(.mark, .logic-badge)'));
  // Firefox before 136 does not support `plaintext-only`. Pasted content is still read as text.
  if (!box.isContentEditable) box.contentEditable = 'true';

  const read = (): string => (box.textContent ?? '').replaceAll(/[\r\n]+/g, writing.isMultiline ? '\n' : ' ');
  let isOver = false;
  box.addEventListener('input', () => writing.onInput(read()));
  const listening = new AbortController();
  const { signal } = listening;
  let isPressing = false;
  let isLeft = false;
  const end = (): void => void (!isOver && writing.onEnd(false));
  box.addEventListener('blur', () => {
    // The end redraws the node. During a press, this would lose the click on another option.
    if (isPressing) isLeft = true;
    else end();
  });
  addEventListener('pointerdown', () => (isPressing = true), { capture: true, signal });
  for (const released of ['pointerup', 'pointercancel'] as const)
    addEventListener(
      released,
      () => {
        isPressing = false;
        if (isLeft) setTimeout(end);
      },
      { capture: true, signal },
    );
  box.addEventListener('paste', (event) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (writing.onPaste?.(text)) event.preventDefault();
  });
  box.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (!event.isComposing && writing.onKey?.(event, read())) {
      event.preventDefault();
      return;
    }
    const isEnd =
      event.key === 'Escape' || (event.key === 'Enter' && !(writing.isMultiline && event.shiftKey));
    if (isEnd && !event.isComposing) {
      event.preventDefault();
      writing.onEnd(true);
    }
  });
  // A click into the text box is not a click on the element.
  for (const type of ['click', 'pointerdown', 'dblclick'] as const)
    box.addEventListener(type, (event) => event.stopPropagation());
  // An on-screen keyboard covers the lower part of the screen, so the box is scrolled into view.
  const keepInSight = (): void => box.scrollIntoView({ block: 'nearest' });
  visualViewport?.addEventListener('resize', keepInSight);
  box.focus();
  if (!writing.at || !putCaret(box, writing.at)) getSelection()?.selectAllChildren(box);
  return () => {
    isOver = true;
    listening.abort();
    visualViewport?.removeEventListener('resize', keepInSight);
    box.remove();
  };
}

/** Puts the caret at the click position. Returns false if the browser does not report the position. */
function putCaret(box: HTMLElement, { x, y }: { readonly x: number; readonly y: number }): boolean {
  const root = box.getRootNode();
  const place = document.caretPositionFromPoint?.(x, y, {
    shadowRoots: root instanceof ShadowRoot ? [root] : [],
  });
  if (!place || !box.contains(place.offsetNode)) return false;
  getSelection()?.collapse(place.offsetNode, place.offset);
  return true;
}

/** The ids of elements and options that stored answers already use. */
export type PublishedNames = Pick<BuilderContextValue, 'lockedIds' | 'publishedOptions'>;

type OptionPosition = NonNullable<TextEdit['option']>;

const none: ReadonlySet<string> = new Set();
const lists = ['options', 'rows'] as const;

const optionsIn = ({ attrs }: EditNode, name: OptionPosition['name']): readonly Option[] =>
  Array.isArray(attrs[name]) && validOptionsOf(attrs[name]).length === attrs[name].length
    ? (attrs[name] as readonly Option[])
    : [];

/** Returns the clicked option or row, found by its text or by the list that opens. */
export function optionAt(
  element: HTMLElement,
  node: EditNode,
  { target, clientX: x, clientY: y }: Pick<MouseEvent, 'target' | 'clientX' | 'clientY'>,
): Pick<TextEdit, 'option' | 'at'> | undefined {
  for (const name of lists) {
    const places = optionElements(element, name, optionsIn(node, name).length);
    const index = places.findIndex((place) => (place.closest('.option') ?? place).contains(target as Node));
    if (index !== -1) return { option: { name, index }, at: { x, y } };
  }
  // Controls are inert, so a click is matched by position.
  const select = element.querySelector(':scope > select')?.getBoundingClientRect();
  const isSelect = select && x >= select.left && x <= select.right && y >= select.top && y <= select.bottom;
  return isSelect && optionsIn(node, 'options').length > 0
    ? { option: { name: 'options', index: 0 } }
    : undefined;
}

/** Shows the options of a dropdown as a list while one of them is edited. */
function openList(element: HTMLElement, options: readonly Option[]): void {
  const closed = element.querySelector(':scope > select');
  if (!closed) return;
  const list = document.createElement('div');
  list.className = 'options opened';
  for (const [index, option] of options.entries()) {
    const row = document.createElement('div');
    const text = document.createElement('span');
    row.className = 'option';
    text.textContent = optionLabelOf(option) || optionPlaceholder('option', index);
    if (optionLabelOf(option) === '') text.dataset['blank'] = '';
    row.append(text);
    list.append(row);
  }
  // Keeps the edited option focused until the click selects the next one.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  closed.after(list);
}

/** Finds the options and rows that have no label yet. */
export const findBlankOptions = (element: HTMLElement, node: EditNode): readonly HTMLElement[] =>
  lists.flatMap((name) => {
    const options = optionsIn(node, name);
    return optionElements(element, name, options.length).filter(
      (_, index) => optionLabelOf(options[index]!) === '',
    );
  });

type OptionContext = {
  readonly element: HTMLElement;
  readonly editor: Editor;
  /** Returns the current version of the node. */
  readonly read: () => EditNode;
  readonly names: PublishedNames;
  readonly onEnd: (byKey: boolean) => void;
};

/**
 * Edits an option or a row in place. Enter adds the next one, Backspace removes an empty one, and a pasted
 * list becomes several. A duplicate label is not saved, and the user sees why.
 */
export function editOption(
  { element, editor, read, names, onEnd }: OptionContext,
  { name, index }: OptionPosition,
  at: Pick<TextEdit, 'at'>,
): (() => void) | undefined {
  const { key, type } = read();
  const list = (): readonly Option[] => optionsIn(read(), name);
  const given = list()[index];
  if (name === 'options' && optionElements(element, name, 1).length === 0) openList(element, list());
  const place = optionElements(element, name, list().length)[index];
  if (given === undefined || !place || !isElementType(type)) {
    // An option that is not shown here is edited in the panel.
    editor.write(undefined);
    return undefined;
  }
  const noun = name === 'rows' ? 'row' : 'option';
  const specs: AttributeSpecs = elementDefinitions[type].attrs;
  const spec = specs[name];
  const maxItems = spec?.kind === 'options' ? spec.maxItems : 0;
  const published = names.publishedOptions.get(`${textOf(read(), 'id')} ${name}`) ?? none;
  let taken = '';
  const put = (next: { readonly options: readonly Option[]; readonly at: number }): boolean => {
    editor.change((root) => ({
      root: setOptions(root, key, next.options, name),
      select: key,
      write: { key, option: { name, index: next.at } },
    }));
    return true;
  };
  const isTaken = (text: string): boolean =>
    text !== '' && list().some((other, position) => position !== index && optionLabelOf(other) === text);
  return editLabel(place, {
    text: optionLabelOf(given),
    name: optionPlaceholder(noun, index),
    placeholder: optionPlaceholder(noun, index),
    isMultiline: false,
    ...at,
    onInput: (text) => {
      taken = isTaken(text) ? text : '';
      if (taken) return;
      editor.change((root) => {
        const others = list().toSpliced(index, 1);
        const option = relabelOption(list()[index]!, text, others, published);
        return { root: setOptions(root, key, list().with(index, option), name) };
      }, `${name} ${index} ${key}`);
    },
    onKey: (event, text) => {
      const next =
        taken === '' && handleOptionKey({ options: list(), at: index }, event, { noun, text, maxItems });
      return next ? put(next) : false;
    },
    onPaste: (text) => {
      const next = pasteOptionList({ options: list(), at: index }, text, maxItems);
      return next ? put(next) : false;
    },
    onEnd: (byKey) => {
      if (taken) toastProblem(new Error(`Another ${noun} is already called “${taken}”.`));
      onEnd(byKey);
    },
  });
}
