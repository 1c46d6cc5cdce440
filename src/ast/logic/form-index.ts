import {
  type Element,
  type Form,
  isInput,
  isSeen,
  type PlacedElement,
  type Step,
  walkElements,
} from '../tree.ts';

/** The places of a form's elements, by element and by id. */
export type FormIndex = {
  readonly places: ReadonlyMap<Element, PlacedElement>;
  readonly byId: ReadonlyMap<string, PlacedElement>;
  /** Whether any element or step has a condition or a jump, or none of it is seen. Most forms have none: all of them is shown. */
  readonly hasLogic: boolean;
};

// A form never changes; the server asks about the same one again and again.
const indexes = new WeakMap<Form, FormIndex>();

export function indexOf(form: Form): FormIndex {
  const known = indexes.get(form);
  if (known) return known;
  const made = makeIndex(form);
  indexes.set(form, made);
  return made;
}

function makeIndex(form: Form): FormIndex {
  const placed = [...walkElements(form)];
  const named = placed.flatMap((place) => {
    const id = place.element.attrs?.id;
    return id === undefined ? [] : [[id, place] as const];
  });
  return {
    places: new Map(placed.map((place) => [place.element, place])),
    byId: new Map(named),
    hasLogic: [...form.children, ...placed.map(({ element }) => element)].some(hasLogic),
  };
}

function hasLogic(node: Element | Step): boolean {
  const { show_when: show, hide_when: hide } = node.attrs ?? {};
  if (show ?? hide) return true;
  if (node.type === 'step') return node.attrs?.jumps !== undefined;
  return !isSeen(node) || (isInput(node) && node.attrs.require_when !== undefined);
}
