import { saySize } from '#ast/basics/say-size.ts';
import { labelButton, make, type Page } from './page.ts';

/** What the server answers to a file (src/page/upload-route.ts): its token stands for it in the form. `size` in bytes. */
export type StoredFile = {
  readonly token: string;
  readonly filename: string;
  readonly size: number;
  readonly content_type: string;
};

/** Where a file stands that was chosen and has not arrived: on its way, or waiting for the visitor to decide. */
type Unsent = readonly [input: HTMLInputElement, filename: string, item: HTMLElement];

/** The files that were chosen and have not arrived, each at its field. */
export function unsentOf(parent: HTMLElement): Unsent[] {
  return [...parent.querySelectorAll<HTMLElement>('.held li:not(:has([name^="_file["]))')].map((item) => [
    item.parentElement!.nextElementSibling as HTMLInputElement,
    item.dataset['filename'] ?? '',
    item,
  ]);
}

/** The files that have arrived, by the name of their field; those that the visitor drops left out. */
export function heldOf(form: HTMLFormElement): [field: string, file: StoredFile][] {
  return [...form.querySelectorAll<HTMLElement>('.held li')].flatMap((item) => {
    const held = item.querySelector<HTMLInputElement>('[name^="_file["]');
    if (!held || item.querySelector('[name=_drop]:checked')) return [];
    const { filename = '', size, type = '' } = item.dataset;
    const file = { token: held.value, filename, size: Number(size), content_type: type };
    return [[held.name.slice('_file['.length, -1), file]];
  });
}

/** A new item in the list of the files of one field. */
export function addItem(input: HTMLElement): HTMLLIElement {
  const before = input.previousElementSibling;
  const list = before?.matches('.held') ? before : make('ul', { className: 'held' });
  input.before(list);
  const item = make('li', {});
  list.append(item);
  return item;
}

/** Fills an item: the name of the file, something about it, and buttons. Returns the place for what is said of the file. */
export function fillItem(
  item: HTMLElement,
  { filename, fact = '' }: { filename: string; fact?: string },
  ...rest: HTMLElement[]
): HTMLElement {
  item.dataset['filename'] = filename;
  const said = make('span', { className: 'size', textContent: fact });
  const name = make('span', { className: 'filename' }, make('bdi', { textContent: filename }), ' ', said);
  // A picture of what was chosen here stays with its item.
  const picture = item.querySelector('img');
  item.replaceChildren(...(picture ? [picture] : []), name, ...rest);
  return said;
}

/** Shows the picture that was chosen, as the browser has it. */
export function showPicture(item: HTMLElement, file: File): void {
  if (!/^image\/(?:png|jpeg|gif|webp|avif)$/.test(file.type)) return;
  const picture = make('img', { alt: '', src: URL.createObjectURL(file) });
  const release = () => URL.revokeObjectURL(picture.src);
  picture.addEventListener('load', release);
  picture.addEventListener('error', () => {
    release();
    picture.remove();
  });
  item.prepend(picture);
}

/** A button of an item. It says its file's name to those who do not see where it stands. */
export function itemButton(text: string, filename: string, press: () => void): HTMLButtonElement {
  const button = make('button', { type: 'button', className: 'drop' });
  labelButton(button, text, filename);
  button.addEventListener('click', press);
  return button;
}

/** Shows a file that has arrived, with what stands for it in the form. */
export function showStored(page: Page, item: HTMLElement, field: string, file: StoredFile): void {
  const { token, filename, size, content_type } = file;
  Object.assign(item.dataset, { size, type: content_type });
  const remove = itemButton(page.data.words.remove, filename, () => removeItem(page, item));
  fillItem(
    item,
    { filename, fact: saySize(size, document.documentElement.lang) },
    make('input', { type: 'hidden', name: `_file[${field}]`, value: token }),
    remove,
  );
}

/** Shows a file that is not sent, with the reason, until the visitor removes it or does what `again` offers. */
export function showUnsent(
  page: Page,
  item: HTMLElement,
  { filename, reason, again }: { filename: string; reason: string; again?: HTMLElement | undefined },
): void {
  const remove = itemButton(page.data.words.remove, filename, () => removeItem(page, item));
  const message = make('p', { className: 'error', role: 'alert', textContent: reason });
  fillItem(item, { filename }, message, ...(again ? [again] : []), remove);
  // What names the file itself names it once.
  if (reason.includes(filename)) item.querySelector('.filename')!.replaceWith(message);
}

/**
 * Takes an item away; the focus goes to its field, which may show a problem that is mended now. The field is the one
 * that the item stands at: its name is another one when rows before it have gone.
 */
export function removeItem(page: Page, item: HTMLElement): void {
  const list = item.parentElement!;
  const input = list.nextElementSibling as HTMLInputElement;
  item.remove();
  if (list.childElementCount === 0) list.remove();
  input.focus();
  page.form.dispatchEvent(new CustomEvent('files', { detail: input.name }));
}
