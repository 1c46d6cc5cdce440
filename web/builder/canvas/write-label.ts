/** How a label is written on the canvas. */
type Writing = {
  readonly text: string;
  /** What a screen reader calls the text box. */
  readonly name: string;
  /** A paragraph takes line breaks; elsewhere Enter ends the writing. */
  readonly isMultiline: boolean;
  onInput(text: string): void;
  /** `byKey`: the focus goes back to the element. */
  onEnd(byKey: boolean): void;
};

/** Where the text of a node stands in its markup: its label, or itself when it is its own text. */
export function labelElement(node: HTMLElement): HTMLElement | null {
  if (node.matches('h2, h3, .prose')) return node;
  return node.querySelector<HTMLElement>(':scope > :is(label, legend, h1, h2)');
}

/**
 * Turns the text of a label into a text box with all of it selected, and beside what else the label holds ("required",
 * "Step 1 of 2"). Keys stay inside. Returns what takes the text box away; the caller draws the label again.
 */
export function writeLabel(label: HTMLElement, writing: Writing): () => void {
  const box = document.createElement('span');
  box.className = 'written';
  box.setAttribute('contenteditable', 'plaintext-only');
  box.setAttribute('role', 'textbox');
  box.setAttribute('aria-label', writing.name);
  box.setAttribute('aria-multiline', String(writing.isMultiline));
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
  box.addEventListener('input', () => writing.onInput(read()));
  box.addEventListener('blur', () => writing.onEnd(false));
  box.addEventListener('keydown', (event) => {
    event.stopPropagation();
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
  box.focus();
  getSelection()?.selectAllChildren(box);
  return () => box.remove();
}
