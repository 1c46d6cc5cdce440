import { formatFileSize } from '#ast/basics/format-size.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { findErrors } from './answers.ts';
import {
  addItem,
  fillItem,
  itemButton,
  listUploadedFiles,
  removeItem,
  type StoredFile,
  showPicture,
  showStored,
  showUnsent,
} from './file-list.ts';
import { byId, makeElement, type Page } from './page.ts';
import type { KeptPageState } from './saving.ts';

// Exported for uploads that do not come from a file input: signatures (types/signature.ts).
export { addItem, showStored, showUnsent } from './file-list.ts';

const isFileInput = (target: unknown): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.type === 'file';

/**
 * Uploads files as soon as they are chosen, dropped or pasted, so that posting the form stays small.
 * Dispatches a `files` event on the form when the files of a field change.
 */
export function uploadChosenFiles(page: Page): void {
  const { form } = page;
  // Chosen files move to the list, so the text that the empty control shows would be wrong
  // (src/page/markup/style.ts).
  form.classList.add('sends_files');
  const takeChosen = (input: HTMLInputElement): void => {
    const files = [...(input.files ?? [])];
    // Otherwise, the form would post them again.
    input.value = '';
    upload(page, input, files);
  };
  form.addEventListener('change', ({ target }) => {
    if (isFileInput(target)) takeChosen(target);
  });
  // Files that the visitor chose before this script loaded.
  for (const input of form.querySelectorAll('input')) {
    if (isFileInput(input) && input.files?.length) takeChosen(input);
  }
  // On the whole document: a file dropped beside a field would replace the page and lose every answer.
  document.addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    form.classList.add('dropping');
  });
  for (const end of ['dragleave', 'drop']) {
    document.addEventListener(end, () => form.classList.remove('dropping'));
  }
  document.addEventListener('drop', (event) => uploadTransferredFiles(page, event, event.dataTransfer));
  form.addEventListener('paste', (event) => uploadTransferredFiles(page, event, event.clipboardData));
}

/** Shows files that were chosen before a reload: uploaded ones, and those that were not. */
export function restoreFiles(page: Page, { files, unsent }: KeptPageState): void {
  const here = new Set(listUploadedFiles(page.form).map(([, { token }]) => token));
  for (const [field, file] of files) {
    const input = byId(field);
    if (input && !here.has(file.token)) showStored(page, addItem(input), field, file);
  }
  for (const [field, filename] of unsent) {
    const input = byId(field);
    const reason = fillTemplate(page.data.words.uploadFailed, { filename });
    if (input) showUnsent(page, addItem(input), { filename, reason });
  }
}

function uploadTransferredFiles(page: Page, event: Event, transfer: DataTransfer | null): void {
  if (!transfer?.files.length) return;
  const box = event.target instanceof Element ? event.target.closest('.field') : undefined;
  const input = box?.querySelector<HTMLInputElement>(':scope > [type=file]');
  // A table pasted into a text field also contains a picture of itself, but only its text is wanted.
  if (event.type === 'drop' || input) event.preventDefault();
  if (input) upload(page, input, transfer.files);
}

function upload(page: Page, input: HTMLInputElement, files: Iterable<File>): void {
  for (const file of files) {
    const item = addItem(input);
    showPicture(item, file);
    attempt(page, input, file, item);
  }
}

/** The uploads in progress, by their list item. They count as uploaded files. */
const underWay = new WeakMap<Element, { readonly file: File; readonly request: XMLHttpRequest }>();

/** Returns the other items of a list with an uploaded file or an upload in progress. */
const othersOf = (item: HTMLElement): Element[] =>
  [...item.parentElement!.children].filter(
    (other) => other !== item && !other.querySelector(':scope > .error, [name=_drop]:checked'),
  );

/** Uploads a file. A file that breaks a rule stays in the list with the reason, until the visitor decides. */
function attempt(page: Page, input: HTMLInputElement, file: File, item: HTMLElement): void {
  const { words } = page.data;
  const refusal = refusalOf(page, input, file, item);
  if (refusal === undefined) return send(page, input, file, item);
  const isAlone = !input.multiple;
  const again = againButton(isAlone ? words.replace : words.sendAgain, file.name, item, () => {
    for (const other of isAlone ? othersOf(item) : []) {
      underWay.get(other)?.request.abort();
      other.remove();
    }
    attempt(page, input, file, item);
  });
  showUnsent(page, item, {
    filename: file.name,
    reason: refusal.reason,
    again: refusal.isOfNumber ? again : undefined,
  });
}

/**
 * Creates a button to try again. The button disappears when pressed, so the focus moves to the item's first
 * button.
 */
const againButton = (text: string, filename: string, item: HTMLElement, press: () => void) =>
  itemButton(text, filename, () => {
    press();
    item.querySelector('button')?.focus();
  });

/** Why a file is not uploaded. `isOfNumber`: it could be uploaded if there were fewer files. */
type Refusal = { readonly reason: string; readonly isOfNumber: boolean };

/** Checks a file against our limits and the author's rules before the upload. */
function refusalOf(page: Page, input: HTMLInputElement, file: File, item: HTMLElement): Refusal | undefined {
  const { words, limits } = page.data;
  const others = othersOf(item);
  const { filesPerElement: limit, fileBytes } = limits;
  if (others.length >= limit)
    return { reason: fillTemplate(words.filesCrowded, { limit }), isOfNumber: true };
  if (file.size > fileBytes) {
    const values = { filename: file.name, size: formatFileSize(fileBytes, document.documentElement.lang) };
    return { reason: fillTemplate(words.fileTooLarge, values), isOfNumber: false };
  }
  const coming = [...others.flatMap((other) => underWay.get(other)?.file ?? []), file];
  const chosen = coming.map(
    ({ name, size, type }) => [input.name, { filename: name, size, content_type: type }] as const,
  );
  const found = findErrors(page, page.step, chosen).find(({ field }) => field === input.name);
  // A minimum number of files is not a reason to refuse a file.
  if (!found || found.rule === 'min_files') return undefined;
  return { reason: found.message, isOfNumber: found.rule === 'max_files' };
}

/** Uploads one file. Shows its progress with a Cancel button, and after a failure a button to try again. */
function send(page: Page, input: HTMLInputElement, file: File, item: HTMLElement): void {
  const { words, upload: address } = page.data;
  const bar = makeElement('progress', { max: 100 });
  const share = new Intl.NumberFormat(document.documentElement.lang, { style: 'percent' });
  const show = (percent: number) => {
    bar.value = percent;
    bar.ariaLabel = fillTemplate(words.uploading, { filename: file.name, percent });
    said.textContent = share.format(percent / 100);
  };
  const request = new XMLHttpRequest();
  const fail = () => {
    underWay.delete(item);
    const reason =
      readUploadError(request.responseText) ?? fillTemplate(words.uploadFailed, { filename: file.name });
    const again = againButton(words.sendAgain, file.name, item, () => attempt(page, input, file, item));
    showUnsent(page, item, { filename: file.name, reason, again });
  };
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    show(Math.floor((loaded / total) * 100));
  });
  request.addEventListener('error', fail);
  request.addEventListener('load', () => {
    if (request.status !== 201) return fail();
    underWay.delete(item);
    const hasFocus = item.contains(document.activeElement);
    showStored(page, item, input.name, JSON.parse(request.responseText) as StoredFile);
    if (hasFocus) item.querySelector('button')?.focus();
    page.announce(fillTemplate(words.uploaded, { filename: file.name }));
    page.form.dispatchEvent(new CustomEvent('files', { detail: input.name }));
  });
  const cancel = itemButton(words.cancel, file.name, () => {
    request.abort();
    removeItem(page, item);
  });
  const said = fillItem(item, { filename: file.name }, bar, cancel);
  show(0);
  underWay.set(item, { file, request });
  request.open('POST', address);
  request.setRequestHeader('Accept', 'application/json');
  const body = new FormData();
  body.append(input.name, file);
  request.send(body);
}

/** Returns the server's error about a file; undefined if the response is not from the server. */
export function readUploadError(answer: string): string | undefined {
  try {
    const { errors } = JSON.parse(answer) as { errors?: { message: string }[] };
    return errors?.[0]?.message;
  } catch {
    // The response is empty or a proxy's page. The caller shows a general message.
    return undefined;
  }
}
