import { answerLimits } from '#ast/basics/limits.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { byId, labelButton, makeElement, type Page } from './page.ts';

/** Attributes that contain the name of a row, as the server renders them. */
const named = ['id', 'name', 'for', 'aria-describedby', 'aria-labelledby'];
const controls = 'input:not([type=hidden][name^=_]), select, textarea';

/** Adds a row to a repeatable group, as the server does for `_add`, and returns it. */
export function addRow(page: Page, group: string): HTMLElement | undefined {
  const rows = rowsOf(group);
  const last = rows.at(-1);
  if (!last || rows.length >= answerLimits.rows) return undefined;
  const row = last.cloneNode(true) as HTMLElement;
  empty(row);
  last.after(row);
  renumberRows(page, group);
  return row;
}

/**
 * Removes the row `group[1]`, as the server does for `_remove`. Later rows move up. Returns the row to focus.
 */
export function removeRow(page: Page, name: string): HTMLElement | undefined {
  const group = groupOfRow(name);
  const rows = rowsOf(group);
  const index = rows.findIndex(({ id }) => id === name);
  if (rows.length < 2 || index < 0) return undefined;
  rows[index]!.remove();
  renumberRows(page, group);
  return rows[index + 1] ?? rows[index - 1];
}

/** Returns the group of a row: `team` for `team[1]`. */
export function groupOfRow(row: string): string {
  return row.slice(0, row.lastIndexOf('['));
}

/**
 * Whether the script can add and remove rows here. A page rendered with the maximum number of rows has no Add
 * button.
 */
export function hasRowButtons(group: string): boolean {
  return addButton(group) !== undefined;
}

function addButton(group: string): HTMLElement | undefined {
  return byId(group)?.querySelector<HTMLElement>(':scope > .add') ?? undefined;
}

/** Lists the shown rows of a repeatable group, in order. */
export function rowsOf(group: string): HTMLElement[] {
  return [...(byId(group)?.querySelectorAll<HTMLElement>(':scope > .one_row') ?? [])];
}

/** Moves the focus to the first control of a row. */
export function focusRow(row: HTMLElement | undefined): void {
  const all = [...(row?.querySelectorAll<HTMLElement>(controls) ?? [])];
  all.find((control) => control.checkVisibility())?.focus();
}

/** Clears the answers, files and errors of a row. */
function empty(row: HTMLElement): void {
  for (const gone of row.querySelectorAll('.held, .error > *')) gone.remove();
  for (const box of [row, ...row.querySelectorAll('.invalid')]) box.classList.remove('invalid');
  for (const marked of row.querySelectorAll('[aria-invalid]')) marked.removeAttribute('aria-invalid');
  for (const control of row.querySelectorAll<HTMLInputElement>(controls))
    if (control.type === 'checkbox' || control.type === 'radio') control.checked = false;
    else control.value = '';
}

/** Updates the names, titles and buttons of a group's rows by their position. */
export function renumberRows(page: Page, group: string): void {
  const box = byId(group)!;
  const label = box.querySelector(':scope > legend')?.textContent ?? '';
  const rows = rowsOf(group);
  for (const [index, row] of rows.entries()) {
    rename(row, row.id, `${group}[${index}]`);
    const title = fillTemplate(page.data.words.row, { label, number: index + 1 });
    row.querySelector(':scope > legend')!.textContent = title;
    updateRemoveButton(page, row, title, rows.length > 1);
  }
  const add = addButton(group);
  if (add) add.hidden = rows.length >= answerLimits.rows;
}

function rename(row: HTMLElement, from: string, to: string): void {
  if (from === to) return;
  for (const element of [row, ...row.querySelectorAll('*')]) {
    const isOwn = /^_(?!other)/.test(element.getAttribute('name') ?? '');
    for (const attribute of isOwn ? [...named, 'value'] : named) {
      const value = element.getAttribute(attribute);
      if (value?.includes(from)) element.setAttribute(attribute, value.replaceAll(from, to));
    }
  }
}

/** The only row of a group has no Remove button, because a group always has at least one row. */
function updateRemoveButton(page: Page, row: HTMLElement, title: string, isWanted: boolean): void {
  const found = row.querySelector<HTMLButtonElement>(':scope > .remove');
  if (!isWanted) found?.remove();
  else {
    const button = found ?? makeElement('button', { className: 'remove', name: '_remove' });
    button.value = row.id;
    labelButton(button, page.data.words.remove, title);
    row.append(button);
  }
}
