import { attributeProblem, type AttributeSpec, type AttributeSpecs, isMissing } from '#ast/attributes.ts';
import { elements, formAttributes, isElementType, stepAttributes } from '#ast/elements.ts';
import type { Element, Form } from '#ast/tree.ts';
import { readOptions } from '../../conditions/asked-node.ts';
import { type Attributes, type EditNode } from './edit-node.ts';
import { sayPlace } from './options-text.ts';

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
