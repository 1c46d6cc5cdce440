import { fieldAt } from './element-context.ts';
import { levelStyle, levels } from './levels.ts';
import { styled } from './styled.ts';

/** A row of numbers, of which the visitor chooses one. */
export const scale = styled<'scale'>([levelStyle], (element, place) =>
  levels(fieldAt(element, place), 'levels', element.attrs),
);
