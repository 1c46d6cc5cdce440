import {
  type AttributeSpec,
  type AttributeSpecs,
  attributeProblem,
  isMissing,
} from '#ast/attributes/attributes.ts';
import { factOf } from '#ast/basics/fact-of.ts';
import { elements, formAttributes, isElementType, stepAttributes } from '#ast/form/elements.ts';
import type { Element, Form } from '#ast/form/tree.ts';
import { validateStructure } from '#ast/validate.ts';
import { readOptions } from '../../conditions/condition-tree.ts';
import { type Attributes, type EditNode, type NodeKey, nodeAt, toStructure } from './edit-node.ts';
import { sayPlace } from './options-text.ts';

/** What a part can say, by the table of the language; nothing of a type that it does not know. */
export function specsOf({ type }: Pick<EditNode, 'type'>): AttributeSpecs {
  if (type === 'form') return formAttributes;
  if (type === 'step') return stepAttributes;
  return isElementType(type) ? elements[type].attrs : {};
}

/** What the validator says in words for programs, and what it says to people; the rest is the same to both. */
const rewrites: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^A required attribute is missing: (.+)\.$/, '$1 is still missing.'],
  [
    /^Element ids must be unique: (.+) is used more than once\.$/,
    'Two parts are called $1 for programs. Rename one.',
  ],
  [/^Step ids must be unique: (.+) is used more than once\.$/, 'Two steps are called $1. Rename one.'],
  [/^“Largest file” .*$/, 'The largest file must have a size that the service takes.'],
  [/^(“[^”]+”) of (?:"[^"]*"|the \w+) /, '$1 '],
  [
    / must not have an entry (?:(\d+) )?that (?:has an? [“"]\w+[”"] that )?is blank or has line breaks/,
    ': option $1 is blank',
  ],
  [/option {2}is blank/, 'an option is blank'],
  [/ must not have an entry (\d+) that has a [“"](\w+)[”"]/, ': option $1 has a “$2”'],
  [/must not have an entry over/, 'must not have an option of more than'],
  [/must not repeat the (?:id|label) /, 'must not repeat '],
  [/\b(\d+) KB \(\d+ bytes\)/g, 'about $1,000 characters'],
  [/\brepeatable composite/g, 'repeated group'],
  [/\bComposites\b/g, 'Groups'],
  [/\bcomposite(s?)\b/g, 'group$1'],
];

/** A problem of a part in the words of its panel: its fields by their titles, and nothing that only programs ask for. */
export function sayProblem(message: string, node: EditNode | undefined): string {
  const specs = node ? specsOf(node) : {};
  const titled = message.replace(/"(\w+)"/g, (written, name: string) => {
    const title = Object.hasOwn(specs, name) ? specs[name]!.title : undefined;
    return title === undefined ? written : `“${title}”`;
  });
  return rewrites.reduce((said, [pattern, words]) => said.replace(pattern, words), titled);
}

/** A problem of the form, at the node that it belongs to. */
export type LocatedProblem = {
  readonly key: NodeKey;
  readonly message: string;
  readonly path: readonly number[];
};

/** What the validator says of the form; asked once for each state of it, however many ask. */
export const validateRoot = factOf((root: EditNode) => validateStructure(toStructure(root)));

/** Everything that keeps the form from being published, in reading order: what the API would say, by node. */
export function findProblems(root: EditNode): readonly LocatedProblem[] {
  const result = validateRoot(root);
  if (result.ok) return [];
  return result.errors.map(({ path, message }) => ({ key: nodeAt(root, path).key, message, path }));
}

/** The messages of each node that has any. */
export function problemsByKey(problems: readonly LocatedProblem[]): ReadonlyMap<NodeKey, readonly string[]> {
  const groups = Map.groupBy(problems, ({ key }) => key);
  return new Map([...groups].map(([key, found]) => [key, found.map(({ message }) => message)]));
}

/** What stands on the canvas where the author has not written a label yet. */
const untitled = 'Untitled';

/**
 * A node without its children as the page renderer takes it, whatever is wrong with it: what is missing is filled in
 * and what has a wrong type is left out. Undefined for a type that the table does not know.
 */
export function drawableElement(node: EditNode): Element | undefined {
  if (!isElementType(node.type)) return undefined;
  const attrs = drawableAttributes(node.attrs, elements[node.type].attrs, node.key);
  return { type: node.type, attrs, children: [] } as unknown as Element;
}

/** The form and its steps without their elements. */
export function drawableFrame(root: EditNode): Form {
  const steps = root.children.map(({ attrs, key }) => ({
    type: 'step',
    attrs: drawableAttributes(attrs, stepAttributes, key),
    children: [],
  }));
  const attrs = drawableAttributes(root.attrs, formAttributes, root.key);
  return { type: 'form', attrs, children: steps } as unknown as Form;
}

function drawableAttributes(attrs: Attributes, specs: AttributeSpecs, key: string): Attributes {
  const drawn: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs)) {
    // Whoever builds the form sees all of it, whatever answers would show and hide.
    if (spec.kind === 'condition' || spec.kind === 'jumps') continue;
    const value = Object.hasOwn(attrs, name) ? attrs[name] : undefined;
    if (isMissing(value) || attributeProblem(spec, value)) {
      if (spec.required) drawn[name] = standIn(name, spec, value, key);
    } else {
      drawn[name] = value;
    }
  }
  return drawn;
}

/** What is drawn instead of a required attribute that is missing or wrong. */
function standIn(name: string, spec: AttributeSpec, value: unknown, key: string): unknown {
  if (spec.kind === 'id') return key;
  if (spec.kind === 'options')
    return readOptions(value).map((option, index) => ({
      ...option,
      label: option.label || sayPlace(name === 'rows' ? 'row' : 'option', index),
    }));
  return name === 'label' || name === 'name' ? untitled : '';
}
