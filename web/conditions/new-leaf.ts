import type { Operator } from '#ast/logic/condition.ts';
import type { ChoiceOption } from '#ast/answers/options.ts';
import { type AskedNode, readOptions, textOf } from './asked-node.ts';
import { type Leaf, writeCondition } from './condition-tree.ts';
import { type Asked, askedKind, isOperator, operatorsOf, takesValue } from './operators.ts';

/** What a comparison asks about: its kind and its options decide the values. */
export type AskedPart = { readonly kind: Asked; readonly options: readonly ChoiceOption[] };

/** What is asked of an element; a reference value is a text that nobody knows. */
export function askedPart(node: AskedNode | undefined): AskedPart {
  const kind = node && askedKind(node);
  if (!node || !kind) return { kind: 'reference', options: [] };
  return { kind, options: readOptions(node.attrs['options']) };
}

/** A new comparison that asks for an element's answer, complete where there is something to suggest. */
export function newLeaf(asked: AskedNode | undefined): Leaf {
  const part = askedPart(asked);
  const [is = 'answered'] = operatorsOf(asked);
  const subject = asked
    ? ({
        of: 'element',
        name: textOf(asked, 'id'),
        ...(asked.row !== undefined && { row: asked.row }),
      } as const)
    : ({ of: 'reference', name: '' } as const);
  return withOperator({ kind: 'leaf', subject, is }, part, is);
}

/** A new condition of one comparison, as a form keeps it. */
export const newCondition = (asked: AskedNode | undefined): object =>
  writeCondition({ kind: 'group', mode: 'all', parts: [newLeaf(asked)] });

/** The comparison asking for something else; the operator stays where it fits there, and with it a free value. */
export function withSubject(leaf: Leaf, asked: AskedNode | undefined): Leaf {
  const fresh = newLeaf(asked);
  const part = askedPart(asked);
  if (!isOperator(leaf.is) || !operatorsOf(asked).includes(leaf.is)) return fresh;
  const kept = withOperator(fresh, part, leaf.is);
  const isText = part.kind === 'text' || part.kind === 'reference';
  return isText && typeof leaf.value === 'string' ? { ...kept, value: leaf.value } : kept;
}

/** The comparison with another operator; the value stays when the operator compares with such a one. */
export function withOperator({ value, ...leaf }: Leaf, part: AskedPart, is: Operator): Leaf {
  if (!takesValue(is)) return { ...leaf, is };
  const isList = is === 'one_of';
  const fits = value !== undefined && Array.isArray(value) === isList;
  const next = fits ? value : suggestValue(part, isList, value);
  return { ...leaf, is, ...(next !== undefined && { value: next }) };
}

function suggestValue({ kind, options }: AskedPart, isList: boolean, old: unknown): unknown {
  const single: unknown = Array.isArray(old) ? old[0] : (old ?? (kind === 'boolean' ? true : options[0]?.id));
  if (!isList) return single;
  return single === undefined ? undefined : [single];
}
