import type { ElementType } from '#ast/form/elements.ts';
import type { Element } from '#ast/form/tree.ts';
import type { Html } from '../../markup/html.ts';
import type { ElementContext } from './element-context.ts';

/** Renders an element. `styles` are added to the style sheet of forms with this element type. */
export type ElementRenderer<Type extends ElementType> = {
  (element: Extract<Element, { type: Type }>, place: ElementContext): Html;
  readonly styles?: readonly string[];
};

/**
 * Adds styles to a renderer. Styles that several types share must be identical strings, so that they are sent
 * once.
 */
export const withStyles = <Type extends ElementType>(
  styles: readonly string[],
  draw: ElementRenderer<Type>,
): ElementRenderer<Type> => Object.assign(draw, { styles });
