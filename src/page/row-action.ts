import { parseRowName, type RawAnswers } from '#ast/fields.ts';
import { limits } from '#ast/limits.ts';

/** What a press of the page's own buttons asks for: to submit, or to add or remove a row of a repeatable composite. */
export type PageAction =
  | { kind: 'submit' }
  | { kind: 'add'; group: string }
  | { kind: 'remove'; group: string; row: number };

/** Reads the pressed button from the page's controls. */
export function readAction(controls: readonly (readonly [string, string])[]): PageAction {
  for (const [name, value] of controls) {
    if (name === '_add') return { kind: 'add', group: value };
    const [, group, row] = name === '_remove' ? (/^([\w-]+)\[(\d{1,3})\]$/.exec(value) ?? []) : [];
    if (group && row) return { kind: 'remove', group, row: Number(row) };
  }
  return { kind: 'submit' };
}

/**
 * The answers and files after adding or removing a row. Rows move up behind a removed one, and so do the names of
 * their files. The last row stays, emptied: a repeatable composite always shows one.
 */
export function applyRowAction<File>(
  action: PageAction,
  raw: RawAnswers,
  files: ReadonlyMap<string, readonly File[]>,
): { raw: RawAnswers; files: Map<string, readonly File[]>; focus: string | undefined } {
  if (action.kind === 'submit') return { raw, files: new Map(files), focus: undefined };
  const given = raw[action.group];
  const rows: unknown[] = Array.isArray(given) && given.length > 0 ? [...given] : [{}];
  if (action.kind === 'add') {
    if (rows.length < limits.rows) rows.push({});
    return {
      raw: { ...raw, [action.group]: rows },
      files: new Map(files),
      focus: `${action.group}[${rows.length - 1}]`,
    };
  }
  rows.splice(action.row, 1);
  const kept = new Map<string, readonly File[]>();
  for (const [name, list] of files) {
    const part = parseRowName(name);
    if (!part || part.group !== action.group || part.index < action.row) kept.set(name, list);
    else if (part.index > action.row) kept.set(`${part.group}[${part.index - 1}][${part.id}]`, list);
  }
  const focus = `${action.group}[${Math.max(0, Math.min(action.row, rows.length - 1))}]`;
  return { raw: { ...raw, [action.group]: rows.length > 0 ? rows : [{}] }, files: kept, focus };
}
