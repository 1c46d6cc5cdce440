import type { AttributeSpecs } from '../attributes/attributes.ts';
import { isRecord, own, withoutNulls } from '../basics/json.ts';
import { limits } from '../basics/limits.ts';
import { fitsBytes } from '../basics/text.ts';
import { elements, formAttributes, isElementType, stepAttributes } from './elements.ts';
import type { Form } from './tree.ts';

type Node = Readonly<Record<string, unknown>>;

/**
 * A structure in which every node has `attrs` and `children` (specification, "Form AST"): absent or null ones are filled
 * in. Everything else stays as it was sent. Accepts any value; a structure that is complete is returned itself.
 */
export const fillNodes = (structure: unknown): unknown => mapNodes(structure, fillNode, 0);

/**
 * What a structure means: attributes that are null are absent, an unknown layout of a step is the default, and a heading
 * or paragraph without a label shows `text` or `content`. The structure itself is stored and returned as it was sent; this
 * is what is validated and rendered. Accepts any value; a structure that says all of this already is returned itself.
 */
export const effectiveStructure = (structure: unknown): unknown =>
  mapNodes(structure, (node) => effectiveNode(fillNode(node)), 0);

/** The same of a structure that was validated when it was stored. */
export const effectiveForm = (structure: object): Form => effectiveStructure(structure) as Form;

function mapNodes(node: unknown, map: (node: Node) => Node, depth: number): unknown {
  // A deeper one is not a valid structure, and recursion must end whatever was sent.
  if (!isRecord(node) || depth > limits.jsonDepth) return node;
  const mapped = map(node);
  const children = own(mapped, 'children');
  if (!Array.isArray(children)) return mapped;
  const changed = children.map((child: unknown) => mapNodes(child, map, depth + 1));
  const isSame = changed.every((child, index) => child === (children as unknown[])[index]);
  return isSame ? mapped : { ...mapped, children: changed };
}

function fillNode(node: Node): Node {
  const attrs = own(node, 'attrs') ?? {};
  const children = own(node, 'children') ?? [];
  const isComplete = own(node, 'attrs') === attrs && own(node, 'children') === children;
  return isComplete ? node : { ...node, attrs, children };
}

function effectiveNode(node: Node): Node {
  const attrs = own(node, 'attrs');
  const type = own(node, 'type');
  const specs = typeof type === 'string' ? specsOf(type) : undefined;
  if (!specs || !isRecord(attrs)) return node;
  const kept = Object.entries(attrs).flatMap(([name, value]): [string, unknown][] => {
    const spec = own(specs, name);
    if (!spec) return [[name, value]];
    const isUnknownChoice = spec.kind === 'one-of' && spec.isOpen && isUnlisted(spec.values, value);
    return value === null || isUnknownChoice ? [] : [[name, withoutNulls(value)]];
  });
  const { label } = specs;
  const lacksText = isShownText(type) && !isText(own(attrs, 'label'));
  const shown = lacksText && label?.kind === 'string' ? textOf(attrs, label.maxBytes) : undefined;
  const isSame =
    kept.length === Object.keys(attrs).length && kept.every(([name, value]) => attrs[name] === value);
  if (isSame && shown === undefined) return node;
  return { ...node, attrs: { ...Object.fromEntries(kept), ...(shown !== undefined && { label: shown }) } };
}

function specsOf(type: string): AttributeSpecs | undefined {
  if (type === 'form') return formAttributes;
  if (type === 'step') return stepAttributes;
  return isElementType(type) ? elements[type].attrs : undefined;
}

const isUnlisted = (values: readonly string[], value: unknown): boolean =>
  typeof value === 'string' && !values.includes(value);

/** Content whose only text is its label, for which others also send `text` or `content`. */
const isShownText = (type: unknown): boolean => type === 'heading' || type === 'paragraph';
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const textOf = (attrs: Node, maxBytes: number): string | undefined =>
  [own(attrs, 'text'), own(attrs, 'content')].filter(isText).find((text) => fitsBytes(text, maxBytes));
