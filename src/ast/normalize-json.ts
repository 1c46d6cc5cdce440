import { elements, formAttributes, isElementType, stepAttributes } from './elements.ts';
import { isRecord, own } from './json.ts';
import { normalizeText } from './text.ts';

/**
 * Returns a JSON value with every text and name in NFC. Unknown attributes of a form's tree stay as sent, because the
 * API returns them unchanged. Changes the value in place; `JSON.parse` made it, so nothing else holds it.
 * Nesting is limited to 64 levels before this runs.
 */
export function normalizeJson(value: unknown): unknown {
  if (typeof value === 'string') return normalizeText(value);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = normalizeJson(item);
    return value;
  }
  return isRecord(value) ? normalizeObject(value, () => true) : value;
}

function normalizeObject(
  object: Record<string, unknown>,
  isOurs: (name: string) => boolean,
): Record<string, unknown> {
  const known = knownAttributes(own(object, 'type'));
  const entries = Object.entries(object).map(([name, value]): [string, unknown] => {
    if (!isOurs(name)) return [name, value];
    if (known && name === 'attrs' && isRecord(value))
      return [name, normalizeObject(value, (attribute) => Object.hasOwn(known, attribute))];
    return [normalizeText(name), normalizeJson(value)];
  });
  // Also defines `__proto__` as a plain property.
  return Object.fromEntries(entries);
}

/** The attributes of a node of this type; undefined for an object that is no node. */
function knownAttributes(type: unknown): object | undefined {
  if (type === 'form') return formAttributes;
  if (type === 'step') return stepAttributes;
  return isElementType(type) ? elements[type].attrs : undefined;
}
