import { formatFileSize } from '#ast/basics/format-size.ts';
import { labelButton, makeElement, type Page } from './page.ts';

/**
 * The server's response to an upload (src/page/upload-route.ts). The form posts the token. `size` is in
 * bytes.
 */
export type StoredFile = {
  readonly token: string;
  readonly filename: string;
  readonly size: number;
  readonly content_type: string;
  /** A small copy of a picture, as a data URL. The script adds it, for a reload. */
  readonly preview?: string | undefined;
};

/** A chosen file that is not uploaded: in progress, or waiting for the visitor's decision. */
type UnsentFile = readonly [input: HTMLInputElement, filename: string, item: HTMLElement];

/** Lists the chosen files that are not uploaded. */
export function listUnsentFiles(parent: HTMLElement): UnsentFile[] {
  return [...parent.querySelectorAll<HTMLElement>('.held li:not(:has([name^="_file["]))')].map((item) => [
    item.parentElement!.nextElementSibling as HTMLInputElement,
    item.dataset['filename'] ?? '',
    item,
  ]);
}

/** Lists the uploaded files by the name of their field, without those that the visitor removes. */
export function listUploadedFiles(form: HTMLFormElement): [field: string, file: StoredFile][] {
  return [...form.querySelectorAll<HTMLElement>('.held li')].flatMap((item) => {
    const input = item.querySelector<HTMLInputElement>('[name^="_file["]');
    if (!input || item.querySelector('[name=_drop]:checked')) return [];
    const { filename = '', size, type = '', preview } = item.dataset;
    const file = { token: input.value, filename, size: Number(size), content_type: type, preview };
    return [[input.name.slice('_file['.length, -1), file]];
  });
}

/** Adds an item to the list of files of one field. */
export function addItem(input: HTMLElement): HTMLLIElement {
  const before = input.previousElementSibling;
  const list = before?.matches('.held') ? before : makeElement('ul', { className: 'held' });
  input.before(list);
  const item = makeElement('li', {});
  list.append(item);
  return item;
}

/**
 * Fills an item with the name of the file, a detail about it, and buttons. Returns the element of the detail.
 */
export function fillItem(
  item: HTMLElement,
  { filename, fact = '' }: { filename: string; fact?: string },
  ...rest: HTMLElement[]
): HTMLElement {
  item.dataset['filename'] = filename;
  const detail = makeElement('span', { className: 'size', textContent: fact });
  const name = makeElement(
    'span',
    { className: 'filename' },
    makeElement('bdi', { textContent: filename }),
    ' ',
    detail,
  );
  // Keeps the preview of the chosen picture.
  const picture = item.querySelector('img');
  item.replaceChildren(...(picture ? [picture] : []), name, ...rest);
  return detail;
}

/** Shows a preview of a chosen picture, and keeps a small copy of it for a reload. */
export function showPicture(item: HTMLElement, file: File): void {
  if (!/^image\/(?:png|jpeg|gif|webp|avif)$/.test(file.type)) return;
  // The address stays valid, because the review shows the picture too (review.ts).
  const picture = makeElement('img', { alt: '', src: URL.createObjectURL(file) });
  picture.addEventListener('error', () => picture.remove());
  picture.addEventListener('load', () => {
    item.dataset['preview'] = shrinkPicture(picture);
  });
  item.prepend(picture);
}

/** The longer side of the copy of a picture, in px. */
const previewSide = 160;

function shrinkPicture(picture: HTMLImageElement): string {
  const { naturalWidth: width, naturalHeight: height } = picture;
  const part = Math.min(1, previewSide / Math.max(width, height));
  const canvas = makeElement('canvas', { width: Math.ceil(width * part), height: Math.ceil(height * part) });
  canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/webp');
}

/** Creates a button of an item. Its accessible name includes the file's name. */
export function itemButton(text: string, filename: string, press: () => void): HTMLButtonElement {
  const button = makeElement('button', { type: 'button', className: 'drop' });
  labelButton(button, text, filename);
  button.addEventListener('click', press);
  return button;
}

/** Shows an uploaded file, and adds its token to the form. */
export function showUploadedFile(page: Page, item: HTMLElement, field: string, file: StoredFile): void {
  const { token, filename, size, content_type, preview } = file;
  Object.assign(item.dataset, { size, type: content_type });
  if (preview) {
    item.dataset['preview'] = preview;
    item.prepend(makeElement('img', { alt: '', src: preview }));
  }
  const remove = itemButton(page.data.words.remove, filename, () => removeItem(page, item));
  fillItem(
    item,
    { filename, fact: formatFileSize(size, document.documentElement.lang) },
    makeElement('input', { type: 'hidden', name: `_file[${field}]`, value: token }),
    remove,
  );
}

/** Shows a file that was not uploaded, with the reason, until the visitor removes it or presses `again`. */
export function showUnsentFile(
  page: Page,
  item: HTMLElement,
  { filename, reason, again }: { filename: string; reason: string; again?: HTMLElement | undefined },
): void {
  const remove = itemButton(page.data.words.remove, filename, () => removeItem(page, item));
  const message = makeElement('p', { className: 'error', role: 'alert', textContent: reason });
  fillItem(item, { filename }, message, ...(again ? [again] : []), remove);
  // A reason that contains the file name replaces the name.
  if (reason.includes(filename)) item.querySelector('.filename')!.replaceWith(message);
}

/**
 * Removes an item. By default, the focus moves to its field, which may have an error that is now resolved. The
 * field is found by position: its name changes when rows before it are removed.
 */
export function removeItem(page: Page, item: HTMLElement, movesFocus = true): void {
  const list = item.parentElement!;
  const input = list.nextElementSibling as HTMLInputElement;
  item.remove();
  if (list.childElementCount === 0) list.remove();
  if (movesFocus) input.focus();
  page.form.dispatchEvent(new CustomEvent('files', { detail: input.name }));
}
