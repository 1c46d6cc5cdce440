import { getProperty, isRecord } from '../basics/json.ts';
import { normalizeText } from '../basics/text.ts';
import { elementDefinitions, formAttributes, isElementType, stepAttributes } from './elements.ts';

/**
 * Converts every text and name in a JSON value to NFC. Unknown attributes of a form's tree stay as sent,
 * because the API returns them unchanged. Changes the value in place, which is safe because `JSON.parse`
 * created it. Nesting is limited to 64 levels before this runs.
 */
export function normalizeJson(value: unknown): unknown {
  if (typeof value === 'string') return normalizeText(value);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = normalizeJson(item);
    return value;
  }
  return isRecord(value) ? normalizeObject(value, () => true) : value;
}

/** Where a request has a `secret`: its body, or the arguments of an MCP tool or `call_operation`. */
const secretPaths = [[], ['params', 'arguments'], ['params', 'arguments', 'arguments']];

/**
 * Converts the JSON body of a request to NFC, except for the `secret` of a webhook, because both sides sign
 * with its exact bytes. Passwords need no exception: their hashes use the NFKC form.
 */
export function normalizeBody(body: unknown): unknown {
  const sent = secretPaths.map((place) => holderAt(body, place)?.['secret']);
  const normalized = normalizeJson(body);
  for (const [index, place] of secretPaths.entries())
    if (typeof sent[index] === 'string') holderAt(normalized, place)!['secret'] = sent[index];
  return normalized;
}

function holderAt(body: unknown, place: readonly string[]): Record<string, unknown> | undefined {
  const holder = place.reduce<unknown>(
    (at, name) => (isRecord(at) ? getProperty(at, name) : undefined),
    body,
  );
  return isRecord(holder) && Object.hasOwn(holder, 'secret') ? holder : undefined;
}

function normalizeObject(
  object: Record<string, unknown>,
  isOurs: (name: string) => boolean,
): Record<string, unknown> {
  const known = knownAttributes(getProperty(object, 'type'));
  const entries = Object.entries(object).map(([name, value]): [string, unknown] => {
    if (!isOurs(name)) return [name, value];
    if (known && name === 'attrs' && isRecord(value))
      return [name, normalizeObject(value, (attribute) => Object.hasOwn(known, attribute))];
    return [normalizeText(name), normalizeJson(value)];
  });
  // Defines even `__proto__` as an ordinary property.
  return Object.fromEntries(entries);
}

/** Returns the attributes of a node type, or undefined if the object is not a node. */
function knownAttributes(type: unknown): object | undefined {
  if (type === 'form') return formAttributes;
  if (type === 'step') return stepAttributes;
  return isElementType(type) ? elementDefinitions[type].attrs : undefined;
}
