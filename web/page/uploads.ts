import { fill } from '#ast/words.ts';
import { saySize } from '#page/words/words.ts';
import { findErrors } from './answers.ts';
import { showAtField } from './errors.ts';
import { heldOf, type StoredFile } from './held-files.ts';
import { addItem, fillItem, itemButton, removeItem, showStored } from './held-list.ts';
import { byId, make, type Page } from './page.ts';

const isFileInput = (target: unknown): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.type === 'file';

/**
 * Takes files as they are chosen, dropped or pasted, and sends each at once, so that the form itself stays small.
 * The form hears a `files` event when those of a field are others.
 */
export function takeFiles(page: Page): void {
  const { form } = page;
  // The control is empty again at once: what it says of itself would be untrue, and the list says it (src/page/style.ts).
  form.classList.add('sends_files');
  const takeChosen = (input: HTMLInputElement): void => {
    const files = [...(input.files ?? [])];
    // They would be sent again with the form.
    input.value = '';
    upload(page, input, files);
  };
  form.addEventListener('change', ({ target }) => {
    if (isFileInput(target)) takeChosen(target);
  });
  // Those that a quick visitor chose before this was here.
  for (const input of form.querySelectorAll('input')) {
    if (isFileInput(input) && input.files?.length) takeChosen(input);
  }
  // Not only over a field: a file that misses it would replace the page, and every answer with it.
  document.addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    form.classList.add('dropping');
  });
  for (const end of ['dragleave', 'drop']) {
    document.addEventListener(end, () => form.classList.remove('dropping'));
  }
  document.addEventListener('drop', (event) => takeFrom(page, event, event.dataTransfer));
  form.addEventListener('paste', (event) => takeFrom(page, event, event.clipboardData));
}

/** Shows files that had arrived before a reload. */
export function showFiles(page: Page, files: readonly (readonly [field: string, file: StoredFile])[]): void {
  const here = new Set(heldOf(page.form).map(([, { token }]) => token));
  for (const [field, file] of files) {
    const input = byId(field);
    if (input && !here.has(file.token)) showStored(page, addItem(input), field, file);
  }
}

function takeFrom(page: Page, event: Event, transfer: DataTransfer | null): void {
  if (!transfer?.files.length) return;
  const box = event.target instanceof Element ? event.target.closest('.field') : undefined;
  const input = box?.querySelector<HTMLInputElement>(':scope > [type=file]');
  // A table that is pasted into a text field comes with a picture of itself, and its text is meant.
  if (event.type === 'drop' || input) event.preventDefault();
  if (input) upload(page, input, transfer.files);
}

function upload(page: Page, input: HTMLInputElement, files: Iterable<File>): void {
  const { words, limits } = page.data;
  const room = limits.filesPerElement - (input.parentElement?.querySelectorAll('.held li').length ?? 0);
  const label = input.labels?.[0]?.firstChild?.textContent ?? '';
  const problems: string[] = [];
  for (const [index, file] of [...files].entries()) {
    const size = saySize(limits.fileBytes, words);
    if (index >= room) problems[0] ??= fill(words.filesCrowded, { label, limit: limits.filesPerElement });
    else if (file.size > limits.fileBytes)
      problems.push(fill(words.fileTooLarge, { label, filename: file.name, size }));
    else {
      const broken = problemOf(page, input.name, file);
      if (broken) problems.push(broken);
      else send(page, input, file, addItem(input));
    }
  }
  showAtField(input.name, problems);
}

/** What the author's rules say against a file, before it is sent. That more files are needed is no fault of this one. */
function problemOf(page: Page, field: string, { name, size, type }: File): string | undefined {
  const chosen = [[field, { filename: name, size, content_type: type }]] as const;
  const found = findErrors(page, page.step, chosen).find((error) => error.field === field);
  return found?.rule === 'min_files' ? undefined : found?.message;
}

/** Sends one file: its share so far, a way to stop it, and when it failed a way to try again. */
function send(page: Page, input: HTMLInputElement, file: File, item: HTMLElement): void {
  const { words, upload: address } = page.data;
  const bar = make('progress', { max: 100 });
  const show = (percent: number) => {
    bar.value = percent;
    bar.ariaLabel = fill(words.uploading, { filename: file.name, percent });
  };
  show(0);
  const request = new XMLHttpRequest();
  const remove = () => {
    request.abort();
    removeItem(page, item);
  };
  const fail = () => {
    const text = problemIn(request.responseText) ?? fill(words.uploadFailed, { filename: file.name });
    const again = itemButton(words.sendAgain, file.name, () => send(page, input, file, item));
    const message = make('p', { className: 'error', role: 'alert', textContent: text });
    fillItem(item, file.name, again, itemButton(words.remove, file.name, remove), message);
  };
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    show(Math.floor((loaded / total) * 100));
  });
  request.addEventListener('error', fail);
  request.addEventListener('load', () => {
    if (request.status !== 201) return fail();
    showStored(page, item, input.name, JSON.parse(request.responseText) as StoredFile);
    page.announce(fill(words.uploaded, { filename: file.name }));
    page.form.dispatchEvent(new CustomEvent('files', { detail: input.name }));
  });
  fillItem(item, file.name, bar, itemButton(words.cancel, file.name, remove));
  request.open('POST', address);
  request.setRequestHeader('Accept', 'application/json');
  const body = new FormData();
  body.append(input.name, file);
  request.send(body);
}

/** What the server says is wrong with the file, if it is the server that answered. */
function problemIn(answer: string): string | undefined {
  try {
    const { errors } = JSON.parse(answer) as { errors?: { message: string }[] };
    return errors?.[0]?.message;
  } catch {
    // A proxy's page, or nothing: the general sentence says it.
    return undefined;
  }
}
