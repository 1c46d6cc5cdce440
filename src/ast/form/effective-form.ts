import type { AttributeSpecs } from '../attributes/attributes.ts';
import { getProperty, isRecord, withoutNulls } from '../basics/json.ts';
import { formLimits } from '../basics/limits.ts';
import { fitsBytes } from '../basics/text.ts';
import { elementDefinitions, formAttributes, isElementType, stepAttributes } from './elements.ts';
import type { Form } from './tree.ts';

type Node = Readonly<Record<string, unknown>>;

/**
 * Adds missing or null `attrs` and `children` to every node (specification, "Form AST"). Leaves everything
 * else as it was sent. Accepts any value, and returns the same object if the structure is complete.
 */
export const addMissingNodeMembers = (structure: unknown): unknown => mapNodes(structure, fillNode, 0);

/**
 * Returns the structure that is validated and rendered. Drops null attributes, replaces an unknown step
 * layout with the default, and uses `text` or `content` as a missing label of headings and paragraphs. The
 * structure is still stored as it was sent. Accepts any value, and returns the same object if nothing
 * changes.
 */
export const effectiveStructure = (structure: unknown): unknown =>
  mapNodes(structure, (node) => effectiveNode(fillNode(node)), 0);

/** Returns the effective structure of a form that was validated when it was stored. */
export const effectiveForm = (structure: object): Form => effectiveStructure(structure) as Form;

function mapNodes(node: unknown, map: (node: Node) => Node, depth: number): unknown {
  // A deeper structure is invalid. The limit also ensures that recursion ends for any input.
  if (!isRecord(node) || depth > formLimits.jsonDepth) return node;
  const mapped = map(node);
  const children = getProperty(mapped, 'children');
  if (!Array.isArray(children)) return mapped;
  const changed = children.map((child: unknown) => mapNodes(child, map, depth + 1));
  const isSame = changed.every((child, index) => child === (children as unknown[])[index]);
  return isSame ? mapped : { ...mapped, children: changed };
}

function fillNode(node: Node): Node {
  const attrs = getProperty(node, 'attrs') ?? {};
  const children = getProperty(node, 'children') ?? [];
  const isComplete = getProperty(node, 'attrs') === attrs && getProperty(node, 'children') === children;
  return isComplete ? node : { ...node, attrs, children };
}

function effectiveNode(node: Node): Node {
  const attrs = getProperty(node, 'attrs');
  const type = getProperty(node, 'type');
  const specs = typeof type === 'string' ? specsOf(type) : undefined;
  if (!specs || !isRecord(attrs)) return node;
  const kept = Object.entries(attrs).flatMap(([name, value]): [string, unknown][] => {
    const spec = getProperty(specs, name);
    if (!spec) return [[name, value]];
    const isUnknownChoice = spec.kind === 'one-of' && spec.isOpen && isUnlisted(spec.values, value);
    return value === null || isUnknownChoice ? [] : [[name, withoutNulls(value)]];
  });
  const { label } = specs;
  const lacksText = isShownText(type) && !isText(getProperty(attrs, 'label'));
  const shown = lacksText && label?.kind === 'string' ? textOf(attrs, label.maxBytes) : undefined;
  const isSame =
    kept.length === Object.keys(attrs).length && kept.every(([name, value]) => attrs[name] === value);
  if (isSame && shown === undefined) return node;
  return { ...node, attrs: { ...Object.fromEntries(kept), ...(shown !== undefined && { label: shown }) } };
}

function specsOf(type: string): AttributeSpecs | undefined {
  if (type === 'form') return formAttributes;
  if (type === 'step') return stepAttributes;
  return isElementType(type) ? elementDefinitions[type].attrs : undefined;
}

const isUnlisted = (values: readonly string[], value: unknown): boolean =>
  typeof value === 'string' && !values.includes(value);

/** Whether the only text of the element is its label. Some clients send `text` or `content` instead. */
const isShownText = (type: unknown): boolean => type === 'heading' || type === 'paragraph';
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const textOf = (attrs: Node, maxBytes: number): string | undefined =>
  [getProperty(attrs, 'text'), getProperty(attrs, 'content')]
    .filter(isText)
    .find((text) => fitsBytes(text, maxBytes));
