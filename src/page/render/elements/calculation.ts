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

/** Styles of the result on the confirmation page (../quiz-result.ts), which only forms with a score show. */
const quizStyle = `
.quiz { margin-block-start: var(--6); }
.quiz h2 { margin-block: var(--6) var(--3); font-size: 1.25rem; }
.quiz dl { margin: 0; padding: var(--4) var(--5); background: var(--tint); border-radius: var(--round); }
.quiz :is(dt, .size) { color: var(--soft); }
.quiz dd { margin: 0; }
.quiz dd + dt { margin-block-start: var(--3); }
.quiz dd strong { font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.quiz ol { margin: 0; padding: 0; list-style: none; }
.quiz li { padding-block: var(--4); border-block-start: 1px solid var(--line); }
.quiz h3 { margin: 0 0 var(--2); }
.quiz :is(dt, h3) { unicode-bidi: plaintext; }
`;

/** Visitors see a score after they submit. The script expects a box for each element. */
export const renderScore = withStyles<'score'>([quizStyle], () => html`<div class="field" hidden></div>`);
