import { formLimits } from '#ast/basics/limits.ts';
import { parseGroupFieldName, type RawAnswers } from '#ast/form/fields.ts';
import { moveControl, parseMove, type RankingMove } from '../render/elements/ranking-moves.ts';
import { languageActionPrefix } from '../render/language-switch.ts';
import { changeButtonValue } from '../render/review.ts';

/**
 * The action of a page's button: submit, go forward or back, save for later, change a reviewed answer, or
 * switch the language. Others add or remove a row of a repeatable group, or move an option of a ranking.
 */
export type PageAction =
  | { kind: 'submit' }
  | { kind: 'next' }
  | { kind: 'back' }
  | { kind: 'save' }
  | { kind: 'language'; language: string }
  | { kind: 'change'; field: string }
  | { kind: 'move'; move: RankingMove }
  | RowAction;

type RowAction = { kind: 'add'; group: string } | { kind: 'remove'; group: string; row: number };

/** Returns the pressed button from the page's controls. An unknown button submits. */
export function readPageAction(controls: readonly (readonly [string, string])[]): PageAction {
  for (const [name, value] of controls) {
    if (name === '_add') return { kind: 'add', group: value };
    const move = name === moveControl ? parseMove(value) : undefined;
    if (move) return { kind: 'move', move };
    const [, group, row] = name === '_remove' ? (/^([^[\]]+)\[(\d{1,3})\]$/.exec(value) ?? []) : [];
    if (group && row) return { kind: 'remove', group, row: Number(row) };
    if (name === '_go' && (value === 'next' || value === 'back' || value === 'save')) return { kind: value };
    if (name === '_go' && value.startsWith(languageActionPrefix))
      return { kind: 'language', language: value.slice(languageActionPrefix.length) };
    if (name === '_go' && value.startsWith(changeButtonValue('')))
      return { kind: 'change', field: value.slice(changeButtonValue('').length) };
  }
  return { kind: 'submit' };
}

/**
 * Returns the answers and files after adding or removing a row. Later rows move up, and the names of their
 * files change with them. If only one row is left, it is emptied instead, because a repeatable group always
 * shows one.
 */
export function applyRowAction<File>(
  action: RowAction,
  raw: RawAnswers,
  files: ReadonlyMap<string, readonly File[]>,
): { raw: RawAnswers; files: Map<string, readonly File[]>; focus: string } {
  const given = raw[action.group];
  const rows: unknown[] = Array.isArray(given) && given.length > 0 ? [...given] : [{}];
  if (action.kind === 'add') {
    if (rows.length < formLimits.rows) rows.push({});
    return {
      raw: { ...raw, [action.group]: rows },
      files: new Map(files),
      focus: `${action.group}[${rows.length - 1}]`,
    };
  }
  rows.splice(action.row, 1);
  const remaining = new Map<string, readonly File[]>();
  for (const [name, list] of files) {
    const part = parseGroupFieldName(name);
    if (!part || part.group !== action.group || part.index < action.row) remaining.set(name, list);
    else if (part.index > action.row) remaining.set(`${part.group}[${part.index - 1}][${part.id}]`, list);
  }
  const focus = `${action.group}[${Math.max(0, Math.min(action.row, rows.length - 1))}]`;
  return { raw: { ...raw, [action.group]: rows.length > 0 ? rows : [{}] }, files: remaining, focus };
}
