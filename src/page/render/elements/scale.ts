import { attributeDefaults } from '#ast/basics/defaults.ts';
import { scaleLevelsOf } from '#ast/form/tree.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { type Field, fieldAt, fillPlainText, withStyles } from './element-context.ts';
import { errorId } from './frame.ts';
import { levelStyle, renderLevels } from './levels.ts';

const sliderStyle = `
.slider { display: contents; }
.options_slider:has(> .slider:not([hidden])) { grid-template-columns: minmax(0, 1fr) auto auto; align-items: center; gap: 0 var(--2); }
.options_slider:has(> .slider:not([hidden])) > .option { display: none; }
.slider:not([hidden]) ~ .ends { grid-column: 1; margin-block-start: -.375rem; }
.slider output { min-inline-size: 2.5ch; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; text-align: end; }
.slider input { appearance: none; inline-size: 100%; block-size: var(--control); margin: 0; background: none; border-radius: var(--round); cursor: pointer; }
.slider ::-webkit-slider-runnable-track { block-size: .5rem; border-radius: 1rem; background: linear-gradient(var(--side, to right), var(--accent) var(--filled, 0%), var(--line) 0); }
[dir=rtl] .slider { --side: to left; }
.slider ::-moz-range-track { block-size: .5rem; border-radius: 1rem; background: var(--line); }
.slider ::-moz-range-progress { block-size: .5rem; border-radius: 1rem; background: var(--accent); }
.slider ::-webkit-slider-thumb { appearance: none; inline-size: 1.75rem; block-size: 1.75rem; margin-block-start: -.625rem; border: 2px solid var(--accent); border-radius: 50%; background: var(--accent); }
.slider ::-moz-range-thumb { box-sizing: border-box; inline-size: 1.75rem; block-size: 1.75rem; border: 2px solid var(--accent); border-radius: 50%; background: var(--accent); }
.slider.untouched ::-webkit-slider-thumb { background: var(--paper); border-color: var(--edge); }
.slider.untouched ::-moz-range-thumb { background: var(--paper); border-color: var(--edge); }
.slider.untouched ::-moz-range-progress { background: none; }
.slider.untouched > button { visibility: hidden; }
.slider svg { display: block; inline-size: 1.25rem; fill: none; stroke: currentcolor; stroke-width: 2; stroke-linecap: round; }
@media (forced-colors: active) { .slider input { appearance: auto; } }
`;

/** A row of numbers, or a slider; the visitor chooses one. */
export const renderScale = withStyles<'scale'>([levelStyle, sliderStyle], (element, place) => {
  const field = fieldAt(element, place);
  const { display = attributeDefaults.display } = element.attrs;
  const drawing =
    display === 'slider' ? { layout: 'levels options_slider', slider: slider(field) } : { layout: 'levels' };
  return renderLevels(field, drawing, element.attrs);
});

/** Renders the slider, which has no answer of its own: the script chooses the radio button of its value. */
function slider({ element, name, place }: Field): Html {
  const { page } = place;
  const all = scaleLevelsOf(element);
  const range = attributes({
    type: 'range',
    min: all[0],
    max: all.at(-1),
    value: all[Math.floor(all.length / 2)],
    'aria-label': fillPlainText(element.attrs.label, place),
    'aria-describedby': errorId(name),
  });
  const clear = html`<button type="button" class="quiet clears"><span class="unseen">${page.words.clear}</span><svg viewbox="0 0 20 20" aria-hidden="true"><path d="M5 5l10 10M15 5L5 15"></path></svg></button>`;
  // Nothing is submitted from the builder's canvas, which shows the slider without the script.
  const box = attributes({ class: 'slider untouched', hidden: page.places !== undefined });
  return html`
<div${box}><input${range}><output aria-hidden="true">–</output>${clear}</div>`;
}
