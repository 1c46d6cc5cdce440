import type { InputOf } from '#app/operations/operations.ts';
import { isRecord } from '#ast/basics/json.ts';
import { isBlank } from '#ast/basics/text.ts';
import type { Form } from '#ast/form/tree.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { findJsonNodes, formatPath, lineAt, offsetOfJsonError, type TextRange } from './json-positions.ts';

/** A problem in a pasted text: the message, the part of the form, and the location in the text. */
export type PastedProblem = { message: string; where: string; place?: TextRange };

/** A form that the server converts: the export of another service, or a text. */
export type ForeignForm = NonNullable<InputOf<'convertForm'>['body']>;

export type PastedForm =
  | { ok: true; structure: Form; settings?: Settings }
  /** A text, or JSON of another kind, which may be an export that the server recognizes. */
  | { ok: true; foreign: ForeignForm }
  | { ok: false; problems: readonly PastedProblem[] };

/**
 * Parses a form as the API accepts it, or as the console exports it (`{structure, settings}`). Other texts are
 * for the server.
 * @param source how to read a text: as plain text or as CSV.
 */
export function readPastedForm(text: string, source?: ForeignForm['source']): PastedForm {
  if (isBlank(text))
    return { ok: false, problems: [{ message: 'Paste or write your questions first.', where: 'Text' }] };
  if (!/^\s*[[{]/.test(text) || isChecklist.test(text))
    return { ok: true, foreign: { text, ...(source && { source }) } };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problems: [locateSyntaxError(text, error as SyntaxError)] };
  }
  if (isForeign(value)) return { ok: true, foreign: { document: value } };
  const wrapped = typeof value === 'object' && value !== null && 'structure' in value ? value : undefined;
  const checked = validateStructure(wrapped ? wrapped.structure : value);
  if (!checked.ok) {
    const places = findJsonNodes(text);
    return {
      ok: false,
      problems: checked.errors.map(({ message, path }) => ({
        message,
        where: formatPath(path),
        place: nearest(places, path),
      })),
    };
  }
  if (!wrapped || !('settings' in wrapped)) return { ok: true, structure: checked.form };
  const read = checkSettings(wrapped.settings, checked.form);
  return read.ok
    ? { ok: true, structure: checked.form, settings: read.settings }
    : { ok: false, problems: read.errors.map(({ message }) => ({ message, where: 'Settings' })) };
}

/** A list of boxes to tick begins like JSON. */
const isChecklist = /^\s*\[[ xX]?\] /;

/** Whether the JSON has properties that a Formloom form does not have. */
const isForeign = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) &&
  value['type'] !== 'form' &&
  !Object.hasOwn(value, 'structure') &&
  !Object.hasOwn(value, 'children') &&
  Object.values(value).some((part) => typeof part === 'object' && part !== null);

/** Returns the range of a node, or of its closest ancestor. */
function nearest(places: Map<string, TextRange>, path: readonly number[]): TextRange | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const place = places.get(path.slice(0, length).join('.'));
    if (place) return place;
  }
  return undefined;
}

function locateSyntaxError(text: string, error: SyntaxError): PastedProblem {
  const offset = offsetOfJsonError(text, error);
  return {
    message: 'This is not valid JSON. The first error is here.',
    where: 'JSON',
    place: { start: offset, end: Math.min(text.length, offset + 1), line: lineAt(text, offset) },
  };
}
