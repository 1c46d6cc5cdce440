import { type AttributeSpecs, attributeProblem } from '#ast/attributes/attributes.ts';
import type { autofillTokens } from '#ast/basics/autofill-tokens.ts';
import { type ElementType, elementDefinitions, isElementType } from '#ast/form/elements.ts';
import type { ElementDefinition } from '#ast/types/definition.ts';
import { type EditNode, makeNode, type NodeAttributes } from './edit-node.ts';
import { freshId } from './element-ids.ts';
import { createFirstOptions } from './options-text.ts';

type Part = {
  readonly id: string;
  readonly label: string;
  readonly autocomplete: (typeof autofillTokens)[number];
  readonly required?: true;
  /** The number of columns that the part spans in the group, which has two. */
  readonly columns?: 2;
};

/** Common groups of questions. Each part has autofill tokens (WCAG 2.2, 1.3.5). */
export const presetGroups = {
  full_name: {
    title: 'Name',
    words: 'person first last given family full who',
    icon: 'M10 3.500a3 3 0 1 1 0 6 3 3 0 0 1 0-6M4 16.500c.4-3.2 2.8-4.8 6-4.800s5.6 1.6 6 4.8',
    parts: [
      { id: 'given_name', label: 'First name', autocomplete: 'given-name', required: true },
      { id: 'family_name', label: 'Last name', autocomplete: 'family-name', required: true },
    ],
  },
  address: {
    title: 'Address',
    words: 'street city town zip postal code country region state postcode delivery billing',
    icon: 'M10 17s5.5-5 5.5-9a5.5 5.5 0 0 0-11 0c0 4 5.5 9 5.5 9M10 6.200a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6',
    parts: [
      { id: 'street', label: 'Street address', autocomplete: 'address-line1', required: true, columns: 2 },
      { id: 'street_more', label: 'Apartment, suite or floor', autocomplete: 'address-line2', columns: 2 },
      { id: 'postal_code', label: 'Postal code', autocomplete: 'postal-code' },
      { id: 'city', label: 'City', autocomplete: 'address-level2', required: true },
      { id: 'region', label: 'State or region', autocomplete: 'address-level1' },
      { id: 'country', label: 'Country', autocomplete: 'country-name', required: true },
    ],
  },
} as const satisfies Readonly<
  Record<string, { title: string; words: string; icon: string; parts: readonly Part[] }>
>;

export type PresetGroup = keyof typeof presetGroups;

/** An entry of the palette: an element type or a preset. */
export type PaletteEntry = ElementType | PresetGroup;

export const isPresetGroup = (entry: PaletteEntry): entry is PresetGroup =>
  Object.hasOwn(presetGroups, entry);

/** Returns the parts of a preset, each of which becomes a question. */
const partsOf = (group: PresetGroup): readonly Part[] => presetGroups[group].parts;

/**
 * Creates a node from a palette entry: an element, or a preset with its questions. Only options are missing.
 */
export const newPaletteNode = (entry: PaletteEntry, taken: ReadonlySet<string>): EditNode =>
  isPresetGroup(entry) ? newGroup(entry, taken) : newElement(entry, taken);

function newGroup(group: PresetGroup, taken: ReadonlySet<string>): EditNode {
  const known = new Set(taken);
  const take = (preferred: string): string => {
    const id = freshId(preferred, known);
    known.add(id);
    return id;
  };
  const attrs = { id: take(group), label: presetGroups[group].title, layout: 'grid_2', repeatable: false };
  const children = partsOf(group).map(({ id, label, autocomplete, required = false, columns }) =>
    makeNode('text', { id: take(id), label, required, autocomplete, ...(columns && { col_span: columns }) }),
  );
  return makeNode('composite', attrs, children);
}

/** Creates an element of a type, from its row in the table of elements. Only options are missing. */
export function newElement(type: ElementType, taken: ReadonlySet<string>): EditNode {
  const { group, title, firstLabel = title, attrs, first }: ElementDefinition = elementDefinitions[type];
  const needed: Record<string, unknown> = { ...first };
  if (group !== 'content') needed['id'] = freshId(type, taken);
  if ('label' in attrs) needed['label'] = firstLabel;
  if ('required' in attrs) needed['required'] = false;
  if ('rows' in attrs) needed['rows'] = createFirstOptions('row');
  if ('options' in attrs) needed['options'] = createFirstOptions('option');
  if ('formula' in attrs) needed['formula'] = '0';
  if ('repeatable' in attrs) Object.assign(needed, { layout: 'stack', repeatable: false });
  return { ...makeNode(type, needed), followsLabel: true };
}

export const hasAttribute = (type: string, name: string): boolean =>
  isElementType(type) && Object.hasOwn(elementDefinitions[type].attrs, name);

/** Lists the types that an element can change to: inputs to inputs, and texts to texts. */
export const convertibleTypes = (type: string): readonly ElementType[] =>
  !isElementType(type) || type === 'composite'
    ? []
    : (Object.keys(elementDefinitions) as ElementType[]).filter(
        (other) => elementDefinitions[other].group === elementDefinitions[type].group,
      );

export function newStep(title: string): EditNode {
  return makeNode('step', { title, layout: 'stack' });
}

/**
 * Returns the attributes that an element keeps when its type changes: those that the new type has, and
 * unknown ones.
 */
export function attributesAfterTypeChange(
  type: ElementType,
  node: EditNode,
  taken: ReadonlySet<string>,
): NodeAttributes {
  const known: AttributeSpecs = elementDefinitions[type].attrs;
  const old: Readonly<Record<string, unknown>> = Object.hasOwn(elementDefinitions, node.type)
    ? elementDefinitions[node.type as ElementType].attrs
    : {};
  // Drops values that the new type does not accept. For example, the limits of a number have no meaning for a
  // date.
  const fits = (name: string, value: unknown): boolean => !attributeProblem(known[name]!, value);
  const remaining = Object.entries(node.attrs).filter(([name, value]) =>
    Object.hasOwn(known, name) ? fits(name, value) : !Object.hasOwn(old, name),
  );
  const fresh = Object.entries(newElement(type, taken).attrs).filter(
    ([name]) => !Object.hasOwn(node.attrs, name),
  );
  return Object.fromEntries([...remaining, ...fresh]);
}
