import type { ElementType } from '#ast/form/elements.ts';
import type { Element } from '#ast/form/tree.ts';
import type { Html } from '../../markup/html.ts';
import type { Place } from './place.ts';

/** Draws an element; its rules are in the style sheet of pages that have one of its type. */
export type Draw<Type extends ElementType> = {
  (element: Extract<Element, { type: Type }>, place: Place): Html;
  readonly styles?: readonly string[];
};

/** A drawing with rules of its own; what several types share is the same text. */
export const styled = <Type extends ElementType>(styles: readonly string[], draw: Draw<Type>): Draw<Type> =>
  Object.assign(draw, { styles });
