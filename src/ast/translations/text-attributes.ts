import type { AttributeSpec, AttributeSpecs } from '../attributes.ts';
import { factOf } from '../fact-of.ts';
import { elements, formAttributes, isElementType, stepAttributes } from '../elements.ts';

type TextSpec = AttributeSpec<'string' | 'options'>;

const isText = (spec: AttributeSpec): spec is TextSpec => spec.kind === 'string' || spec.kind === 'options';

/** The attributes of a node: those of its type. */
export function attributesOfType(type: string): AttributeSpecs {
  if (isElementType(type)) return elements[type].attrs;
  if (type === 'step') return stepAttributes;
  return type === 'form' ? formAttributes : {};
}

/**
 * The attributes that are texts for people, each of its own or one for each option: what can be said in another
 * language. An attribute that the table gains is among them by its kind; a type without `translations` shows none.
 */
export const textAttributes = factOf((specs: AttributeSpecs): readonly [name: string, spec: TextSpec][] =>
  'translations' in specs
    ? Object.entries(specs).flatMap(([name, spec]) => (isText(spec) ? [[name, spec]] : []))
    : [],
);
