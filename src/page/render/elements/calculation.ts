import { isVisibleToVisitors } from '#ast/form/tree.ts';
import { attributes, html } from '../../markup/html.ts';
import { fieldAt, withStyles } from './element-context.ts';
import { renderLabelledControl } from './frame.ts';
import { formatCalculationResult } from './results.ts';

const calculationStyle = `
.field > output { display: grid; align-items: center; justify-items: start; min-block-size: 3rem; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
`;

/**
 * A calculated number. The script updates it while questions are answered, and announces it after a pause.
 */
export const renderCalculation = withStyles<'calculation'>([calculationStyle], (element, place) => {
  // An element that is not shown still needs a box: the script finds elements by their order.
  if (!isVisibleToVisitors(element)) return html`<div class="field" hidden></div>`;
  const field = fieldAt(element, place);
  const result = formatCalculationResult(element, place.row, place.page);
  // As in texts that show the number (ast/answers/format-piped.ts), `bdi` keeps a prefix before it in
  // right-to-left pages.
  return renderLabelledControl(
    field,
    html`<output${attributes({ id: field.name, 'aria-live': 'off' })}><bdi>${result}</bdi></output>`,
  );
});
