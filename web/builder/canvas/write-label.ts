/** Where the options of a question stand in its markup, or the rows of a matrix: the first `count` of them. */
export function optionElements(
  node: HTMLElement,
  name: 'options' | 'rows',
  count: number,
): readonly HTMLElement[] {
  const selector =
    name === 'rows'
      ? '.matrix tbody th'
      : '.options > .option:not(.none) > span:first-of-type, .matrix thead th';
  return [...node.querySelectorAll<HTMLElement>(selector)].slice(0, count);
}

/** How a label, or an option, is written on the canvas. */
type Written = {
  readonly text: string;
  /** What a screen reader calls the text box. */
  readonly name: string;
  /** A paragraph takes line breaks; elsewhere Enter ends the writing. */
  readonly isMultiline: boolean;
  /** What stands there while it is empty. */
  readonly placeholder?: string;
  /** Where it was clicked: the caret goes there. Else all of it is selected. */
  readonly at?: { readonly x: number; readonly y: number };
  onInput(text: string): void;
  /** Whether the key, or the text that is pasted, was taken: then it does nothing else. */
  onKey?(event: KeyboardEvent, text: string): boolean;
  onPaste?(text: string): boolean;
  /** `byKey`: the focus goes back to the element. */
  onEnd(byKey: boolean): void;
};

/** Where the text of a node stands in its markup: its label, or itself when it is its own text. */
export function labelElement(node: HTMLElement): HTMLElement | null {
  if (node.matches('h2, h3, .prose')) return node;
  return node.querySelector<HTMLElement>(':scope > :is(label, legend, h1, h2)');
}

/**
 * Turns the text of a label into a text box, beside what else the label holds ("required", "Step 1 of 2", a picture). Keys
 * stay inside. Returns what takes the text box away; the caller draws the label again.
 */
export function writeLabel(label: HTMLElement, writing: Written): () => void {
  const box = document.createElement('span');
  box.className = 'written';
  box.setAttribute('contenteditable', 'plaintext-only');
  box.setAttribute('role', 'textbox');
  box.setAttribute('aria-label', writing.name);
  box.setAttribute('aria-multiline', String(writing.isMultiline));
  if (writing.placeholder !== undefined) box.dataset['placeholder'] = writing.placeholder;
  box.textContent = writing.text;
  // A text with marks is drawn as elements, and written as its marks.
  const isText = (child: ChildNode): boolean =>
    child instanceof Element
      ? child.matches('a, b, i, bdi, p, ul, ol, h2, h3, h4')
      : child.textContent?.trim() !== '';
  for (const child of Array.from(label.childNodes).filter(isText)) child.remove();
  label.insertBefore(box, label.querySelector(':scope > :is(.mark, .logic-badge)'));
  // Firefox before 136 knows only this; what is pasted there is read as text all the same.
  if (!box.isContentEditable) box.contentEditable = 'true';

  const read = (): string => (box.textContent ?? '').replaceAll(/[\r\n]+/g, writing.isMultiline ? '\n' : ' ');
  let isOver = false;
  box.addEventListener('input', () => writing.onInput(read()));
  box.addEventListener('blur', () => !isOver && writing.onEnd(false));
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
  // A keyboard that comes up on the screen takes the room from below.
  const keepInSight = (): void => box.scrollIntoView({ block: 'nearest' });
  visualViewport?.addEventListener('resize', keepInSight);
  box.focus();
  if (!writing.at || !putCaret(box, writing.at)) getSelection()?.selectAllChildren(box);
  return () => {
    isOver = true;
    visualViewport?.removeEventListener('resize', keepInSight);
    box.remove();
  };
}

/** Puts the caret into the box where a click was; false where the browser does not tell where that is. */
function putCaret(box: HTMLElement, { x, y }: { readonly x: number; readonly y: number }): boolean {
  const root = box.getRootNode();
  const place = document.caretPositionFromPoint?.(x, y, {
    shadowRoots: root instanceof ShadowRoot ? [root] : [],
  });
  if (!place || !box.contains(place.offsetNode)) return false;
  getSelection()?.collapse(place.offsetNode, place.offset);
  return true;
}
