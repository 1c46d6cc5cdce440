import {
  type AttributeSpec,
  type AttributeSpecs,
  attributeProblem,
  isMissing,
} from '#ast/attributes/attributes.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { elementDefinitions, formAttributes, isElementType, stepAttributes } from '#ast/form/elements.ts';
import type { Element, Form } from '#ast/form/tree.ts';
import { validateStructure } from '#ast/validate.ts';
import { validOptionsOf } from '../../conditions/condition-tree.ts';
import { type EditNode, type NodeAttributes, type NodeKey, nodeAt, toStructure } from './edit-node.ts';
import { optionPlaceholder } from './options-text.ts';

/** Returns the attributes of a node's type; empty for an unknown type. */
export function attributeSpecsOfNode({ type }: Pick<EditNode, 'type'>): AttributeSpecs {
  if (type === 'form') return formAttributes;
  if (type === 'step') return stepAttributes;
  return isElementType(type) ? elementDefinitions[type].attrs : {};
}

/** Rewrites validator messages for users. Messages without a match stay unchanged. */
const rewrites: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^A required attribute is missing: (.+)\.$/, '$1 is still missing.'],
  [
    /^Element ids must be unique: (.+) is used more than once\.$/,
    'Two elements are both named $1. Rename one.',
  ],
  [/^Step ids must be unique: (.+) is used more than once\.$/, 'Two steps are both named $1. Rename one.'],
  [/^“Maximum file size” .*$/, 'The maximum file size must be in the allowed range.'],
  [/^(“[^”]+”) of (?:"[^"]*"|the \w+) /, '$1 '],
  [
    / must not have an entry (?:(\d+) )?that (?:has an? [“"]\w+[”"] that )?is blank or has line breaks/,
    ': option $1 is blank',
  ],
  [/option {2}is blank/, 'an option is blank'],
  [/ must not have an entry (\d+) that has a [“"](\w+)[”"]/, ': option $1 has a “$2”'],
  [/must not have an entry over/, 'must not have an option longer than'],
  [/must not repeat the (?:id|label) /, 'must not repeat '],
  [/\b(\d+) KB \(\d+ bytes\)/g, 'about $1,000 characters'],
  [/\brepeatable composite/g, 'repeated group'],
  [/\bComposites\b/g, 'Groups'],
  [/\bcomposite(s?)\b/g, 'group$1'],
];

/**
 * Rewrites a problem in the words of the panel: field titles instead of attribute names, and no technical
 * terms.
 */
export function rewriteProblem(message: string, node: EditNode | undefined): string {
  const specs = node ? attributeSpecsOfNode(node) : {};
  const titled = message.replace(/"(\w+)"/g, (written, name: string) => {
    const title = Object.hasOwn(specs, name) ? specs[name]!.title : undefined;
    return title === undefined ? written : `“${title}”`;
  });
  return rewrites.reduce((text, [pattern, words]) => text.replace(pattern, words), titled);
}

/** A problem in the form, and the node that has it. */
export type LocatedProblem = {
  readonly key: NodeKey;
  readonly message: string;
  readonly path: readonly number[];
};

/** Validates a form, once per root. */
export const validateRoot = memoizeByObject((root: EditNode) => validateStructure(toStructure(root)));

/** Lists everything that prevents publishing, in reading order: the errors of the API, by node. */
export function findProblems(root: EditNode): readonly LocatedProblem[] {
  const result = validateRoot(root);
  if (result.ok) return [];
  return result.errors.map(({ path, message }) => ({ key: nodeAt(root, path).key, message, path }));
}

/** Groups the messages by node. */
export function problemsByKey(problems: readonly LocatedProblem[]): ReadonlyMap<NodeKey, readonly string[]> {
  const groups = Map.groupBy(problems, ({ key }) => key);
  return new Map([...groups].map(([key, found]) => [key, found.map(({ message }) => message)]));
}

/** Shown on the canvas instead of a missing label. */
const untitled = 'Untitled';

/**
 * Converts a node for the page renderer, without its children. Missing attributes get placeholders, and
 * invalid ones are removed. Undefined for an unknown type.
 */
export function drawableElement(node: EditNode): Element | undefined {
  if (!isElementType(node.type)) return undefined;
  const attrs = drawableAttributes(node.attrs, elementDefinitions[node.type].attrs, node.key);
  return { type: node.type, attrs, children: [] } as unknown as Element;
}

/** Converts the form and its steps, without their elements. */
export function drawableFrame(root: EditNode): Form {
  const steps = root.children.map(({ attrs, key }) => ({
    type: 'step',
    attrs: drawableAttributes(attrs, stepAttributes, key),
    children: [],
  }));
  const attrs = drawableAttributes(root.attrs, formAttributes, root.key);
  return { type: 'form', attrs, children: steps } as unknown as Form;
}

function drawableAttributes(attrs: NodeAttributes, specs: AttributeSpecs, key: string): NodeAttributes {
  const drawn: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs)) {
    // The author sees everything, regardless of conditions.
    if (spec.kind === 'condition' || spec.kind === 'jumps') continue;
    const value = Object.hasOwn(attrs, name) ? attrs[name] : undefined;
    if (isMissing(value) || attributeProblem(spec, value)) {
      if (spec.required) drawn[name] = placeholderAttribute(name, spec, value, key);
    } else {
      drawn[name] = value;
    }
  }
  return drawn;
}

/** Returns a placeholder for a required attribute that is missing or invalid. */
function placeholderAttribute(name: string, spec: AttributeSpec, value: unknown, key: string): unknown {
  if (spec.kind === 'id') return key;
  if (spec.kind === 'options')
    return validOptionsOf(value).map((option, index) => ({
      ...option,
      label: option.label || optionPlaceholder(name === 'rows' ? 'row' : 'option', index),
    }));
  return name === 'label' || name === 'name' ? untitled : '';
}
