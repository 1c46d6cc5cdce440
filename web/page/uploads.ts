import { formatFileSize } from '#ast/basics/format-size.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { findStepErrors } from './answers.ts';
import {
  addItem,
  fillItem,
  itemButton,
  listUnsentFiles,
  listUploadedFiles,
  removeItem,
  type StoredFile,
  showPicture,
  showUnsentFile,
  showUploadedFile,
} from './file-list.ts';
import { byId, makeElement, type Page } from './page.ts';
import type { SendRequest, Upload } from './resumable.ts';
import type { SavedPageState } from './saving.ts';

const isFileInput = (target: unknown): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.type === 'file';

/**
 * Uploads files as soon as they are chosen, dropped or pasted, so that posting the form stays small.
 * Dispatches a `files` event on the form when the files of a field change.
 */
export function startFileUploads(page: Page): void {
  const { form } = page;
  // Chosen files move to the list, so the text that the empty control shows would be wrong
  // (src/page/markup/style.ts).
  form.classList.add('sends_files');
  const uploadChosen = (input: HTMLInputElement): void => {
    const files = [...(input.files ?? [])];
    // Otherwise, the form would post them again.
    input.value = '';
    upload(page, input, files);
  };
  form.addEventListener('change', ({ target }) => {
    if (isFileInput(target)) uploadChosen(target);
  });
  form.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('.photo') : undefined;
    const input = button?.parentElement!.querySelector<HTMLInputElement>(':scope > [type=file]');
    if (input) openCamera(input);
  });
  // Files that the visitor chose before this script loaded.
  for (const input of form.querySelectorAll('input'))
    if (isFileInput(input) && input.files?.length) uploadChosen(input);
  // On the whole document: a file dropped beside a field would replace the page and lose every answer.
  document.addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    form.classList.add('dropping');
  });
  for (const end of ['dragleave', 'drop'])
    document.addEventListener(end, () => form.classList.remove('dropping'));
  document.addEventListener('drop', (event) => uploadTransferredFiles(page, event, event.dataTransfer));
  form.addEventListener('paste', (event) => uploadTransferredFiles(page, event, event.clipboardData));
}

/** Opens a phone's camera for a field. Many phones offer only the album for images otherwise. */
function openCamera(input: HTMLInputElement): void {
  const { accept } = input;
  Object.assign(input, { accept: 'image/*', capture: 'environment' });
  input.click();
  input.accept = accept;
  input.removeAttribute('capture');
}

/** Shows files that were chosen before a reload: uploaded ones, and those that were not. */
export function restoreFiles(page: Page, { files, unsent }: SavedPageState): void {
  const shown = new Set(listUploadedFiles(page.form).map(([, { token }]) => token));
  for (const [field, file] of files) {
    const input = byId(field);
    if (input && !shown.has(file.token)) showUploadedFile(page, addItem(input), field, file);
  }
  for (const [field, filename] of unsent) {
    const input = byId(field);
    const reason = fillTemplate(page.data.words.uploadAgain, { filename });
    if (input) showUnsentFile(page, addItem(input), { filename, reason });
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
  for (const gone of input.parentElement!.querySelectorAll(':scope > .refused')) gone.remove();
  for (const file of files) {
    const reason = refusalOf(page, input, file);
    if (reason !== undefined) showRefusal(input, reason);
    else {
      removeUnsent(page, input, file.name);
      const item = addItem(input);
      showPicture(item, file);
      send(page, input, file, item);
    }
  }
}

/** Removes a file that was not uploaded if the visitor chooses it again. */
function removeUnsent(page: Page, input: HTMLInputElement, filename: string): void {
  for (const [field, name, item] of listUnsentFiles(input.parentElement!))
    if (field === input && name === filename && !underWay.has(item)) removeItem(page, item, false);
}

/** The uploads in progress, by their list item. They count as uploaded files. */
const underWay = new WeakMap<Element, { readonly file: File; readonly stop: AbortController }>();

/** Returns the items of a field's list. */
const itemsOf = (input: HTMLInputElement): Element[] => {
  const list = input.previousElementSibling;
  return list?.matches('.held') ? [...list.children] : [];
};

/** Returns the items with an uploaded file or an upload in progress. */
const countedItems = (input: HTMLInputElement): Element[] =>
  itemsOf(input).filter((item) => !item.querySelector(':scope > .error, [name=_drop]:checked'));

/**
 * Returns why a file can't be added: a limit of ours, or a rule of the author. A second file replaces the
 * first in a field for one file, so the number of files is then no reason.
 */
function refusalOf(page: Page, input: HTMLInputElement, file: File): string | undefined {
  const { words, limits } = page.data;
  const others = input.multiple ? countedItems(input) : [];
  const { filesPerElement: limit, fileBytes } = limits;
  if (others.length >= limit) return fillTemplate(words.filesCrowded, { limit });
  if (file.size > fileBytes) {
    const size = formatFileSize(fileBytes, document.documentElement.lang);
    return fillTemplate(words.fileTooLarge, { filename: file.name, size });
  }
  const coming = [...others.flatMap((other) => underWay.get(other)?.file ?? []), file];
  const chosen = coming.map(
    ({ name, size, type }) => [input.name, { filename: name, size, content_type: type }] as const,
  );
  const found = findStepErrors(page, page.step, chosen).find(({ field }) => field === input.name);
  // More files may follow, and fewer if this one replaces another.
  const isOfNumber = found?.rule === 'min_files' || (found?.rule === 'max_files' && !input.multiple);
  return isOfNumber ? undefined : found?.message;
}

/** Shows for some seconds why a file was not added. It is announced, and it blocks nothing. */
function showRefusal(input: HTMLInputElement, reason: string): void {
  const box = input.parentElement!;
  if ([...box.querySelectorAll('.refused')].some(({ textContent }) => textContent === reason)) return;
  const message = makeElement('p', { className: 'refused', role: 'alert', textContent: reason });
  message.addEventListener('animationend', () => message.remove());
  box.append(message);
}

/**
 * Uploads one file and shows its progress, a Cancel button, and after a failure a button to try again. Without
 * a network, waits for one.
 */
function send(page: Page, input: HTMLInputElement, file: File, item: HTMLElement): void {
  const { words, upload: address } = page.data;
  const filename = file.name;
  const bar = makeElement('progress', { max: 100 });
  const share = new Intl.NumberFormat(document.documentElement.lang, { style: 'percent' });
  const show = (percent: number) => {
    bar.value = percent;
    bar.ariaLabel = fillTemplate(words.uploading, { filename, percent });
    detail.textContent = share.format(percent / 100);
  };
  const stop = new AbortController();
  const { signal } = stop;
  const cancel = itemButton(words.cancel, filename, () => {
    stop.abort('canceled');
    removeItem(page, item);
  });
  const detail = fillItem(item, { filename }, bar, cancel);
  show(0);
  underWay.set(item, { file, stop });
  const again = (): void => send(page, input, file, item);
  const wait = (): void => {
    stop.abort();
    if (!item.isConnected) return;
    bar.ariaLabel = `${filename}: ${words.uploadPaused}`;
    detail.textContent = words.uploadPaused;
    page.announce(bar.ariaLabel);
    addEventListener('online', () => item.isConnected && again(), { once: true });
  };
  if (!navigator.onLine) return wait();
  addEventListener('offline', wait, { once: true, signal });
  const fail = ({ status, responseText }: UploadResponse) => {
    if (!navigator.onLine) return wait();
    underWay.delete(item);
    const reason = readUploadError(responseText);
    if (status === 422 && reason !== undefined) {
      removeItem(page, item, item.contains(document.activeElement));
      return showRefusal(input, reason);
    }
    showUnsentFile(page, item, {
      filename,
      reason: reason ?? fillTemplate(words.uploadFailed, { filename }),
      again: itemButton(words.tryAgain, filename, () => {
        again();
        // This button is gone, so the focus needs another place.
        item.querySelector('button')?.focus();
      }),
    });
  };
  const finish = (stored: StoredFile) => {
    underWay.delete(item);
    if (!input.multiple) removeOthers(input, item);
    const hasFocus = item.contains(document.activeElement);
    showUploadedFile(page, item, input.name, stored);
    if (hasFocus) item.querySelector('button')?.focus();
    page.announce(fillTemplate(words.uploaded, { filename }));
    page.form.dispatchEvent(new CustomEvent('files', { detail: input.name }));
  };
  const showProgress = (bytes: number): void => show(Math.floor((bytes / file.size) * 100));
  const upload = { file, field: input.name, address, signal, showProgress };
  const sent = file.size < resumableBytes ? sendAtOnce(upload) : sendLarge(upload);
  void sent.then((response) => {
    removeEventListener('offline', wait);
    if (signal.aborted) return undefined;
    return response.status === 201 ? finish(JSON.parse(response.responseText) as StoredFile) : fail(response);
  });
}

/** Files of this size are sent in pieces, so that a lost connection does not lose what was sent. */
const resumableBytes = 8 * 1024 * 1024;

type UploadResponse = Pick<XMLHttpRequest, 'status' | 'responseText'>;

function sendAtOnce({ file, field, address, signal, showProgress }: Upload): Promise<UploadResponse> {
  const body = new FormData();
  body.append(field, file);
  const onProgress = (sent: number, total: number) => showProgress((sent / total) * file.size);
  return sendRequest('POST', address, { signal, body, onProgress });
}

async function sendLarge(upload: Upload): Promise<UploadResponse> {
  try {
    const { sendInPieces } = await import('./resumable.ts');
    return await sendInPieces(upload, (method, url, { headers, ...more }) =>
      sendRequest(method, url, { ...more, headers: { 'Tus-Resumable': '1.0.0', ...headers } }),
    );
  } catch {
    // The script could not be loaded.
    return { status: 0, responseText: '' };
  }
}

/** Sends a request and returns its response. The status is 0 if it was stopped or no response came. */
const sendRequest: SendRequest = (method, url, given) => {
  const request = new XMLHttpRequest();
  request.open(method, url);
  for (const [name, value] of Object.entries({ Accept: 'application/json', ...given.headers }))
    request.setRequestHeader(name, value);
  const abort = () => request.abort();
  given.signal?.addEventListener('abort', abort);
  request.upload.addEventListener('progress', ({ loaded, total }) => given.onProgress?.(loaded, total));
  return new Promise((resolve) => {
    request.addEventListener('loadend', () => {
      given.signal?.removeEventListener('abort', abort);
      resolve(request);
    });
    request.send(given.body);
  });
};

/** Removes the files that a new one replaces. */
function removeOthers(input: HTMLInputElement, item: HTMLElement): void {
  for (const other of itemsOf(input)) {
    if (other === item) continue;
    underWay.get(other)?.stop.abort('canceled');
    other.remove();
  }
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
