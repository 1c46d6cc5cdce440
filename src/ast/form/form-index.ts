import { memoizeByObject } from '../basics/memoize.ts';
import { lazyConditionalOptionFunctions } from './lazy-conditional-options.ts';
import {
  type Calculation,
  type Element,
  type Form,
  isCalculation,
  isInput,
  isVisibleToVisitors,
  type PlacedElement,
  type Step,
  walkElements,
} from './tree.ts';

/** The positions of a form's elements, by element and by ID. */
export type FormIndex = {
  readonly places: ReadonlyMap<Element, PlacedElement>;
  readonly byId: ReadonlyMap<string, PlacedElement>;
  /** The calculations in each step, by the step's index. */
  readonly calculations: ReadonlyMap<number, readonly PlacedCalculation[]>;
  /**
   * Whether any element or step has a condition, a jump or a formula, or is not visible. Most forms have none
   * of these and show everything.
   */
  readonly hasLogic: boolean;
};

type PlacedCalculation = PlacedElement & { readonly element: Calculation };

export const formIndexOf = memoizeByObject((form: Form): FormIndex => {
  const placed = [...walkElements(form)];
  const named = placed.flatMap((place) => {
    const id = place.element.attrs?.id;
    return id === undefined ? [] : [[id, place] as const];
  });
  return {
    places: new Map(placed.map((place) => [place.element, place])),
    byId: new Map(named),
    calculations: Map.groupBy(placed.filter(isPlacedCalculation), ({ path }) => path[0]!),
    hasLogic: [...form.children, ...placed.map(({ element }) => element)].some(hasLogic),
  };
});

const isPlacedCalculation = (placed: PlacedElement): placed is PlacedCalculation =>
  isCalculation(placed.element);

function hasLogic(node: Element | Step): boolean {
  const { show_when: show, hide_when: hide } = node.attrs ?? {};
  if (show ?? hide) return true;
  if (node.type === 'step') return node.attrs?.jumps !== undefined;
  const isOwn =
    isCalculation(node) ||
    (isInput(node) && (node.attrs.require_when ?? node.attrs.valid_when) !== undefined);
  return (
    !isVisibleToVisitors(node) ||
    isOwn ||
    (lazyConditionalOptionFunctions.hasConditionalOptions?.(node) ?? false)
  );
}
