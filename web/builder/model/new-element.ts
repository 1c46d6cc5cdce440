import { attributeProblem, type AttributeSpecs } from '#ast/attributes.ts';
import { type ElementType, elements, isElementType } from '#ast/elements.ts';
import type { ElementDefinition } from '#ast/types/definition.ts';
import { type Attributes, type EditNode, makeNode } from './edit-node.ts';
import { freshId } from './element-ids.ts';
import { blankOptions } from './options-text.ts';
import { isReadyGroup, type PaletteEntry, partsOf, type ReadyGroup, readyGroups } from './ready-groups.ts';

/** What the palette offers, complete from the start but for what can be chosen: an element of a type, or a ready group with its questions. */
export const newPart = (entry: PaletteEntry, taken: ReadonlySet<string>): EditNode =>
  isReadyGroup(entry) ? newGroup(entry, taken) : newElement(entry, taken);

function newGroup(group: ReadyGroup, taken: ReadonlySet<string>): EditNode {
  const known = new Set(taken);
  const take = (wish: string): string => {
    const id = freshId(wish, known);
    known.add(id);
    return id;
  };
  const attrs = { id: take(group), label: readyGroups[group].title, layout: 'grid_2', repeatable: false };
  const children = partsOf(group).map(({ id, label, autocomplete, required = false, columns }) =>
    makeNode('text', { id: take(id), label, required, autocomplete, ...(columns && { col_span: columns }) }),
  );
  return makeNode('composite', attrs, children);
}

/** An element of a type that is complete from the start but for its options, read from its row in the table of elements. */
export function newElement(type: ElementType, taken: ReadonlySet<string>): EditNode {
  const { group, title, firstLabel = title, attrs, first }: ElementDefinition = elements[type];
  const needed: Record<string, unknown> = { ...first };
  if (group !== 'content') needed['id'] = freshId(type, taken);
  if ('label' in attrs) needed['label'] = firstLabel;
  if ('required' in attrs) needed['required'] = false;
  if ('rows' in attrs) needed['rows'] = blankOptions('row', 3);
  if ('options' in attrs) needed['options'] = blankOptions('option', 3);
  if ('formula' in attrs) needed['formula'] = '0';
  if ('repeatable' in attrs) Object.assign(needed, { layout: 'stack', repeatable: false });
  return { ...makeNode(type, needed), followsLabel: true };
}

export const hasAttribute = (type: string, name: string): boolean =>
  isElementType(type) && Object.hasOwn(elements[type].attrs, name);

/** The types that an element of this one may become: within inputs, and within text. */
export const typesLike = (type: string): readonly ElementType[] =>
  !isElementType(type) || type === 'composite'
    ? []
    : (Object.keys(elements) as ElementType[]).filter(
        (other) => elements[other].group === elements[type].group,
      );

export function newStep(title: string): EditNode {
  return makeNode('step', { title, layout: 'stack' });
}

/** The attributes that an element keeps when it becomes another type: those that the type knows, and unknown ones. */
export function attributesFor(type: ElementType, node: EditNode, taken: ReadonlySet<string>): Attributes {
  const known: AttributeSpecs = elements[type].attrs;
  const old: Readonly<Record<string, unknown>> = Object.hasOwn(elements, node.type)
    ? elements[node.type as ElementType].attrs
    : {};
  // The limits of a number mean nothing to a date: what the new type would refuse stays behind.
  const fits = (name: string, value: unknown): boolean => !attributeProblem(known[name]!, value);
  const kept = Object.entries(node.attrs).filter(([name, value]) =>
    Object.hasOwn(known, name) ? fits(name, value) : !Object.hasOwn(old, name),
  );
  const fresh = Object.entries(newElement(type, taken).attrs).filter(
    ([name]) => !Object.hasOwn(node.attrs, name),
  );
  return Object.fromEntries([...kept, ...fresh]);
}
