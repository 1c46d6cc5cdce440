import { isPageName } from '#ast/basics/page-names.ts';
import { numbersName } from '#ast/form/fields.ts';
import { visitControl } from '#page/visit/course.ts';
import { heldOf, type StoredFile, unsentOf } from './held-list.ts';
import { recall, remember } from './memory.ts';
import { byId, make, type Page, type Strokes } from './page.ts';
import { questionOf } from './question-of.ts';
import { addRow, groupOf, removeRow } from './rows.ts';

/** What a reload of the page needs to go on where the visitor was. */
export type Kept = {
  readonly step: number;
  readonly rows: readonly string[];
  /** Every control by its name, that of a box by its value as well, with its state. */
  readonly controls: readonly (readonly [control: string, state: string | boolean])[];
  readonly files: readonly (readonly [field: string, file: StoredFile])[];
  /** Those that had not arrived: their bytes are gone with the page, and the visitor is told so. */
  readonly unsent: readonly (readonly [field: string, filename: string])[];
  readonly drawn?: Readonly<Record<string, Strokes>> | undefined;
};

/** Keeps what the page holds now for a reload. */
export function keep({ form, step, drawn }: Page): void {
  const kept: Kept = {
    step,
    rows: rowNames(form),
    controls: controlsOf(form).map((control) => [
      keyOf(control),
      isBox(control) ? control.checked : control.value,
    ]),
    files: heldOf(form),
    unsent: unsentOf(form).map(([{ name }, filename]) => [name, filename]),
    drawn: drawn?.(),
  };
  remember(JSON.stringify(kept));
}

/** Brings back the answers from before a reload, and returns what was kept; undefined when there is nothing. */
export function restore(page: Page): Kept | undefined {
  const text = recall();
  if (text === undefined) return undefined;
  const kept = JSON.parse(text) as Kept;
  for (const row of kept.rows) {
    if (!byId(row)) addRow(page, groupOf(row));
  }
  for (const row of rowNames(page.form).toReversed()) {
    if (!kept.rows.includes(row)) removeRow(page, row);
  }
  const states = Map.groupBy(kept.controls, ([control]) => control);
  for (const control of controlsOf(page.form)) {
    const [, state] = states.get(keyOf(control))?.shift() ?? [];
    if (isBox(control)) control.checked = state === true;
    else if (typeof state === 'string') control.value = state;
  }
  takeMoved(page.form, kept.files);
  return kept;
}

/**
 * Takes away the files that the server drew in a row where they are not any more, because one before it has gone. What
 * was kept of them is shown at its own place, when uploads.ts is here.
 */
function takeMoved(form: HTMLFormElement, files: Kept['files']): void {
  const places = new Map(files.map(([field, { token }]) => [token, field]));
  for (const [field, { token }] of heldOf(form)) {
    if (!field.includes('[') || places.get(token) === field) continue;
    const list = byId(field)!.previousElementSibling!;
    list.querySelector(`[value="${token}"]`)?.closest('li')?.remove();
    if (list.childElementCount === 0) list.remove();
  }
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The rows that the page shows: `team[0]`. */
function rowNames(form: HTMLFormElement): string[] {
  return [...form.querySelectorAll<HTMLInputElement>('[name=_row]')].map(({ value }) => value);
}

/** Of the page's own: the same visit goes on to the same submission, its numbers are written as they were, and files stay let go. */
const keptControls = ['_key', numbersName, '_drop', visitControl];

/** The controls that hold answers, and those that go with them. */
function controlsOf(form: HTMLFormElement): Control[] {
  return [...form.querySelectorAll<Control>('input:not([type=file]), select, textarea')].filter(
    ({ name }) => !isPageName(questionOf(name)) || keptControls.includes(name),
  );
}

const isBox = (control: Control): control is HTMLInputElement =>
  control.type === 'checkbox' || control.type === 'radio';

const keyOf = (control: Control): string =>
  isBox(control) ? `${control.name}=${control.value}` : control.name;

/** How long a visitor pauses before the answers are kept in this window, in ms. */
const pauseMs = 300;

/** Events of the form after which its answers, or the place in it, are others. */
const changes = ['input', 'files', 'rows', 'step'] as const;

/** Keeps the answers in this window as the visitor goes, for a reload, and while there is no line. */
export function keepAsYouGo(page: Page): void {
  whenPausing(page, pauseMs, () => keep(page));
  addEventListener('pagehide', () => keep(page));
  tellOfLine(page);
}

/** Says that there is no line, as long as there is none. */
function tellOfLine({ form, data }: Page): void {
  const note = make('p', { className: 'hint', role: 'alert', textContent: data.words.noLine });
  addEventListener('offline', () => form.querySelector('.actions')?.before(note));
  addEventListener('online', () => note.remove());
}

/** Calls `work` once the answers, or the place among them, have been as they are for `ms`. */
export function whenPausing({ form }: Page, ms: number, work: () => void): void {
  let timer: ReturnType<typeof setTimeout>;
  for (const change of changes) {
    form.addEventListener(change, () => {
      clearTimeout(timer);
      timer = setTimeout(work, ms);
    });
  }
}
