import { isSeen } from '#ast/form/tree.ts';
import { attributes, html } from '../../markup/html.ts';
import { labelled } from './frame.ts';
import { fieldAt } from './place.ts';
import { sayResult } from './results.ts';
import { styled } from './styled.ts';

const calculationStyle = `
.field > output { display: grid; align-items: center; justify-items: start; min-block-size: 3rem; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
`;

/** A number that nobody types: the script works it out as answers are given, and says so when they pause. */
export const calculation = styled<'calculation'>([calculationStyle], (element, place) => {
  // Every element has a box: the script finds them by their order.
  if (!isSeen(element)) return html`<div class="field" hidden></div>`;
  const field = fieldAt(element, place);
  const said = sayResult(element, place.row, place.page);
  // What stands before the number does so whichever way the page reads, as in texts that show it (piped.ts).
  return labelled(
    field,
    html`<output${attributes({ id: field.name, 'aria-live': 'off' })}><bdi>${said}</bdi></output>`,
  );
});
