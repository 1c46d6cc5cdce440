import { type AttributeSpecs, attributeSchema } from './attributes/attributes.ts';
import { conditionSchema } from './attributes/condition-schema.ts';
import { formLimits } from './basics/limits.ts';
import { translationsSchema } from './basics/translations-schema.ts';
import {
  type ElementCategory,
  type ElementType,
  elementDefinitions,
  formAttributes,
  isElementType,
  stepAttributes,
} from './form/elements.ts';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns the component name of an element type: `multiple_choice` becomes `MultipleChoiceElement`. */
function schemaName(type: string): string {
  const words = type.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `${words.join('')}Element`;
}

function nodeSchema(title: string, type: string, specs: AttributeSpecs, children: object): object {
  const names = Object.keys(specs).filter((name) => specs[name]?.required);
  const properties = Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [name, attributeSchema(spec)]),
  );
  const attrs = { type: 'object', properties, ...(names.length > 0 && { required: names }) };
  const required = [
    'type',
    ...(names.length > 0 ? ['attrs'] : []),
    // Absent children of elements are read as empty (effective-form.ts).
    ...(isElementType(type) ? [] : ['children']),
  ];
  return { title, type: 'object', properties: { type: { const: type }, attrs, children }, required };
}

/** A leaf has no children, but code generators need an item type. */
const leafChildren = { type: 'array', items: reference('Element'), maxItems: 0 };
const elementChildren = { type: 'array', items: reference('Element') };
const childrenSchemas: Record<ElementCategory, object> = {
  input: leafChildren,
  content: leafChildren,
  composite: elementChildren,
};

/**
 * Returns the form language as named JSON Schemas (2020-12, OpenAPI 3.1) for `components.schemas`:
 * `Structure` (the whole tree), `Step`, `Element`, `Condition` and one for each element type. They are
 * documentation: `validateStructure` also checks what a schema cannot express (unique IDs, UTF-8 lengths,
 * nesting). Unknown attributes are allowed.
 */
export function structureSchemas(): Record<string, object> {
  const types = Object.keys(elementDefinitions) as ElementType[];
  const elementSchemas = types.map((type) => {
    const { title, attrs, group } = elementDefinitions[type];
    return [schemaName(type), nodeSchema(title, type, attrs, childrenSchemas[group])];
  });
  const steps = { type: 'array', items: reference('Step'), minItems: 1, maxItems: formLimits.steps };
  return {
    Structure: nodeSchema('Structure', 'form', formAttributes, steps),
    Step: nodeSchema('Step', 'step', stepAttributes, elementChildren),
    Element: {
      title: 'Element',
      oneOf: types.map((type) => reference(schemaName(type))),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(types.map((type) => [type, reference(schemaName(type)).$ref])),
      },
    },
    Condition: conditionSchema,
    Translations: translationsSchema,
    ...Object.fromEntries(elementSchemas),
  };
}
