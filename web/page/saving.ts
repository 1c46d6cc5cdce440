import { isReservedPageName } from '#ast/basics/page-names.ts';
import { numberFormatControl } from '#ast/form/fields.ts';
import { visitControl } from '#page/visit/visit-progress.ts';
import { listUnsentFiles, listUploadedFiles, type StoredFile } from './file-list.ts';
import { byId, makeElement, type Page, type Strokes } from './page.ts';
import { readStoredPageState, storePageState } from './page-state-storage.ts';
import { questionOf } from './question-of.ts';
import { addRow, groupOfRow, removeRow } from './rows.ts';

/** The state of the page that is restored after a reload. */
export type SavedPageState = {
  readonly step: number;
  readonly rows: readonly string[];
  /** The state of every control by name; a checkbox or radio button by name and value. */
  readonly controls: readonly (readonly [control: string, state: string | boolean])[];
  readonly files: readonly (readonly [field: string, file: StoredFile])[];
  /** Files that were not uploaded. A reload loses their contents, and the visitor is informed. */
  readonly unsent: readonly (readonly [field: string, filename: string])[];
  readonly drawn?: Readonly<Record<string, Strokes>> | undefined;
};

/** Stores the current state of the page, so that it survives a reload. Omits previews if the storage is full. */
export function savePageState({ form, step, drawn }: Page): void {
  const pageState: SavedPageState = {
    step,
    rows: rowNames(form),
    controls: controlsOf(form).map((control) => [
      keyOf(control),
      isBox(control) ? control.checked : control.value,
    ]),
    files: listUploadedFiles(form),
    unsent: listUnsentFiles(form).map(([{ name }, filename]) => [name, filename]),
    drawn: drawn?.(),
  };
  if (storePageState(JSON.stringify(pageState))) return;
  // Previews of pictures are the largest part, and the page works without them.
  const files = pageState.files.map(([field, file]) => [field, { ...file, preview: undefined }]);
  storePageState(JSON.stringify({ ...pageState, files }));
}

/** Restores the answers from before a reload, and returns the kept state; undefined if there is none. */
export function restorePageState(page: Page): SavedPageState | undefined {
  const text = readStoredPageState();
  if (text === undefined) return undefined;
  const pageState = JSON.parse(text) as SavedPageState;
  for (const row of pageState.rows) if (!byId(row)) addRow(page, groupOfRow(row));
  for (const row of rowNames(page.form).toReversed()) if (!pageState.rows.includes(row)) removeRow(page, row);
  const states = Map.groupBy(pageState.controls, ([control]) => control);
  for (const control of controlsOf(page.form)) {
    const [, state] = states.get(keyOf(control))?.shift() ?? [];
    if (isBox(control)) control.checked = state === true;
    else if (typeof state === 'string') control.value = state;
  }
  removeMovedFiles(page.form, pageState.files);
  return pageState;
}

/**
 * Removes files that the server rendered in a row that they are no longer in, because an earlier row was
 * removed. uploads.ts then shows the kept files in their current row.
 */
function removeMovedFiles(form: HTMLFormElement, files: SavedPageState['files']): void {
  const places = new Map(files.map(([field, { token }]) => [token, field]));
  for (const [field, { token }] of listUploadedFiles(form)) {
    if (!field.includes('[') || places.get(token) === field) continue;
    const list = byId(field)!.previousElementSibling!;
    list.querySelector(`[value="${token}"]`)?.closest('li')?.remove();
    if (list.childElementCount === 0) list.remove();
  }
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Lists the names of the shown rows: `team[0]`. */
function rowNames(form: HTMLFormElement): string[] {
  return [...form.querySelectorAll<HTMLInputElement>('[name=_row]')].map(({ value }) => value);
}

/**
 * The page's own controls that are kept: the key of the submission, the number format, removed files, and the
 * visit record.
 */
const ownControls = ['_key', numberFormatControl, '_drop', visitControl];

/** Lists the controls with answers, and the page's own controls that are kept. */
function controlsOf(form: HTMLFormElement): Control[] {
  return [...form.querySelectorAll<Control>('input:not([type=file]), select, textarea')].filter(
    ({ name }) => !isReservedPageName(questionOf(name)) || ownControls.includes(name),
  );
}

const isBox = (control: Control): control is HTMLInputElement =>
  control.type === 'checkbox' || control.type === 'radio';

const keyOf = (control: Control): string =>
  isBox(control) ? `${control.name}=${control.value}` : control.name;

/** The pause in typing after which the answers are kept in this window, in ms. */
const pauseMs = 300;

/** The events of the form after which its answers or its step may have changed. */
const changes = ['input', 'files', 'rows', 'step'] as const;

/**
 * Keeps the answers in this window while the visitor fills in the form, in case of a reload or a lost
 * connection.
 */
export function autosavePageState(page: Page): void {
  onAnswersPause(page, pauseMs, () => savePageState(page));
  addEventListener('pagehide', () => savePageState(page));
  showOfflineNotice(page);
}

/** Shows a notice while the browser is offline. */
function showOfflineNotice({ form, data }: Page): void {
  const note = makeElement('p', { className: 'hint', role: 'alert', textContent: data.words.noLine });
  addEventListener('offline', () => form.querySelector('.actions')?.before(note));
  addEventListener('online', () => note.remove());
}

/** Calls `work` when the answers and the step have not changed for `ms` milliseconds. */
export function onAnswersPause({ form }: Page, ms: number, work: () => void): void {
  let timer: ReturnType<typeof setTimeout>;
  for (const change of changes)
    form.addEventListener(change, () => {
      clearTimeout(timer);
      timer = setTimeout(work, ms);
    });
}
