import { parseCellName, parseRowName, type RawAnswers } from '#ast/fields.ts';
import { indexOf } from '#ast/logic/form-index.ts';
import type { Form } from '#ast/tree.ts';

/** As many as a submission with a key may have (submissions/submit-endpoint.ts). */
const mostValues = 200;
const longestValue = 8_192;
/** What pages call their buttons. */
const buttons: readonly string[] = ['submit', 'button'];

/**
 * Moves the fields of an HTML form that are no questions into the reference data. Buttons are left out. A field that names
 * an element, or exceeds the limits of reference data, stays in the answers, and the check refuses it.
 */
export function takeUnknownFields(
  form: Form,
  raw: RawAnswers,
): { raw: RawAnswers; reference: Record<string, string> } {
  const { byId } = indexOf(form);
  const isKnown = (name: string): boolean => {
    const field = parseCellName(name)?.field ?? name;
    return byId.has(name) || byId.has(field) || byId.has(parseRowName(field)?.group ?? '');
  };
  const unknown = Object.entries(raw).filter(([name]) => !isKnown(name));
  const reference = unknown
    .filter(([name]) => !buttons.includes(name))
    .flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && value.length <= longestValue && name.length <= longestValue
        ? [[name, value]]
        : [],
    )
    .slice(0, mostValues);
  const taken = new Set([...buttons, ...reference.map(([name]) => name)]);
  const kept = Object.entries(raw).filter(([name]) => isKnown(name) || !taken.has(name));
  return {
    raw: Object.assign(Object.create(null) as RawAnswers, Object.fromEntries(kept)),
    reference: Object.fromEntries(reference),
  };
}
