import type { Form } from '#ast/tree.ts';
import { validateStructure } from '#ast/validate.ts';
import { findNodes, lineAt, type TextPlace } from './json-places.ts';

/** One problem of a pasted text: what, in which part of the form, and where in the text. */
export type PastedProblem = { message: string; where: string; place?: TextPlace };

export type PastedForm =
  | { ok: true; structure: Form; settings?: object }
  | { ok: false; problems: readonly PastedProblem[] };

/** Reads a form as the API takes it, or as the console exports it (`{structure, settings}`). */
export function readPastedForm(text: string): PastedForm {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problems: [locateSyntaxError(text, error as SyntaxError)] };
  }
  const wrapped = typeof value === 'object' && value !== null && 'structure' in value ? value : undefined;
  const checked = validateStructure(wrapped ? wrapped.structure : value);
  if (!checked.ok) {
    const places = findNodes(text);
    return {
      ok: false,
      problems: checked.errors.map(({ message, path }) => ({
        message,
        where: sayPath(path),
        place: nearest(places, path),
      })),
    };
  }
  const settings = wrapped && 'settings' in wrapped ? wrapped.settings : undefined;
  return {
    ok: true,
    structure: checked.form,
    ...(typeof settings === 'object' && settings !== null && { settings }),
  };
}

/** "Step 2, element 3" of `[1, 2]`. */
export function sayPath(path: readonly number[]): string {
  const [step, ...elements] = path.map((index) => index + 1);
  if (step === undefined) return 'Form';
  return [
    `Step ${step}`,
    ...elements.map((index, depth) => `${depth === 0 ? 'element' : 'child'} ${index}`),
  ].join(', ');
}

/** The node itself, or the closest one around it. */
function nearest(places: Map<string, TextPlace>, path: readonly number[]): TextPlace | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const place = places.get(path.slice(0, length).join('.'));
    if (place) return place;
  }
  return undefined;
}

/** Engines tell the place in words of their own (Safari does not: then it is the end of the text). */
function locateSyntaxError(text: string, error: SyntaxError): PastedProblem {
  const offset = offsetIn(text, error.message) ?? text.length;
  const message =
    text.trim() === ''
      ? 'There is no JSON yet.'
      : 'This is not valid JSON: something is missing or superfluous here.';
  return {
    message,
    where: 'JSON',
    place: { start: offset, end: Math.min(text.length, offset + 1), line: lineAt(text, offset) },
  };
}

function offsetIn(text: string, message: string): number | undefined {
  const position = /position (\d+)/.exec(message);
  if (position) return Number(position[1]);
  const lineAndColumn = /line (\d+) column (\d+)/.exec(message);
  if (!lineAndColumn) return undefined;
  const before = text.split('\n').slice(0, Number(lineAndColumn[1]) - 1);
  return before.join('\n').length + (before.length > 0 ? 1 : 0) + Number(lineAndColumn[2]) - 1;
}
