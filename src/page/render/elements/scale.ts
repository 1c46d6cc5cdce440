import { levelStyle, levels } from './levels.ts';
import { fieldAt } from './place.ts';
import { styled } from './styled.ts';

/** Numbers beside each other, of which one is chosen. */
export const scale = styled<'scale'>([levelStyle], (element, place) =>
  levels(fieldAt(element, place), 'levels', element.attrs),
);
