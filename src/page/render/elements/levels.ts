import { attributeDefaults } from '#ast/basics/defaults.ts';
import { scaleLevelsOf } from '#ast/form/tree.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { renderChoices } from './choices.ts';
import { type Field, fieldAt, fillPlainText, withStyles } from './element-context.ts';
import { errorId } from './frame.ts';

/** The labels at the ends of a scale. */
type Ends = { readonly low_label?: string; readonly high_label?: string };

/** How a scale looks: the class of its options, and the icon of a level. Without an icon, its number is shown. */
type Drawing = {
  readonly layout: string;
  /** @param share of the scale, from 0 for the lowest level to 1 for the highest. */
  readonly icon?: (share: number) => Html;
  /** Shown in place of the buttons, with the script. */
  readonly slider?: Html;
};

/**
 * Renders a scale: a radio button for each level, styled by the style sheet. The labels at the ends belong to
 * the accessible names of the first and last level, and are shown below them.
 */
function renderLevels(
  field: Field,
  { layout, icon, slider }: Drawing,
  { low_label: low, high_label: high }: Ends,
): Html {
  const all = scaleLevelsOf(field.element);
  const list = all.map((level, index) => {
    const end = level === all[0] ? low : level === all.at(-1) ? high : undefined;
    const name = html`${level}${end && html`<span class="unseen"> – ${end}</span>`}`;
    const label = icon ? html`${icon(index / (all.length - 1))}<span class="unseen">${name}</span>` : name;
    return { value: String(level), label, isChosen: field.value === level };
  });
  const ends = html`
<p class="ends" aria-hidden="true"><span>${low}</span><span>${high}</span></p>`;
  return renderChoices(field, 'radio', list, {
    layout: `${layout} of_${all.length}`,
    after: html`${slider}${(low || high) && ends}`,
  });
}

/** One rule per number of levels, with a column for each level. */
const counts = Array.from({ length: 10 }, (_, index) => `.of_${index + 2} { --levels: ${index + 2}; }`);

/** Styles of every scale: its buttons have no circle and fill the width. */
const levelStyle = `
${counts.join('\n')}
.ends { grid-column: 1 / -1; display: flex; justify-content: space-between; gap: var(--4); color: var(--soft); font-size: .9375rem; }
.options_levels { grid-template-columns: repeat(auto-fit, minmax(2.75rem, 1fr)); gap: .375rem; }
:is(.options_levels, .options_icons) > .option { position: relative; justify-content: center; padding: 0; }
:is(.options_levels, .options_icons) > .option input { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; opacity: 0; }
:is(.options_levels, .options_icons) > .option::after { content: none !important; }
.options_levels > .option:has(:checked) { background: var(--accent); color: var(--on-accent); font-weight: 600; }
@media (min-width: 640px) {
  .options_levels { grid-template-columns: repeat(var(--levels), minmax(0, 3.5rem)); }
}
@media (forced-colors: active) {
  .options_levels > .option:has(:checked) { forced-color-adjust: none; background: Highlight; color: HighlightText; }
}
`;

/**
 * Stars and hearts are filled up to the chosen level, or half up to the hovered one; only the chosen smiley is
 * filled. Outline and filling differ, so they do not depend on color.
 */
const iconStyle = `
.options_icons { grid-template-columns: repeat(5, minmax(0, 3rem)); gap: 0; }
.options_icons:has(> .option:nth-child(6)) { grid-template-columns: repeat(var(--levels), minmax(0, 3rem)); }
.options_icons > .option { border: 0; background: none; box-shadow: none; color: var(--edge); }
.option svg { display: block; inline-size: 2.25rem; max-inline-size: 100%; fill: #0000; stroke: currentcolor; stroke-width: 1.5; stroke-linejoin: round; stroke-linecap: round; }
@media (hover: hover) {
  .options_icons > .option:is(:hover, .symbols > :has(~ .option:hover)) { color: var(--deep); }
  .options_icons > .option:is(:hover, .symbols > :has(~ .option:hover)) svg { fill: currentcolor; fill-opacity: .4; }
}
.options_icons > .option:is(:has(:checked), .symbols > :has(~ .option :checked)) { color: var(--accent); }
.options_icons > .option:is(:has(:checked), .symbols > :has(~ .option :checked)) svg { fill: currentcolor; fill-opacity: 1; }
@media (hover: hover) { .options_icons.symbols > .option:hover ~ .option svg { fill: #0000; } }
.invalid > .options_icons > .option { color: var(--bad); }
.option .face { fill: none; }
.option:has(:checked) .face { stroke: var(--paper); }
@media (forced-colors: active) { .option:has(:checked) .face { stroke: Canvas; } }
`;

const drawn = (paths: Html): Html => html`<svg viewbox="0 0 24 24" aria-hidden="true">${paths}</svg>`;
const star = drawn(
  html`<path d="M12 2.8l2.8 5.9 6.4.8-4.7 4.4 1.2 6.4L12 17.2l-5.7 3.1 1.2-6.4-4.7-4.4 6.4-.8z"></path>`,
);
const heart = drawn(
  html`<path d="M12 20.4C5.6 15.6 2.8 12.3 2.8 8.7a4.7 4.7 0 0 1 9.2-1.5 4.7 4.7 0 0 1 9.2 1.5c0 3.6-2.8 6.9-9.2 11.7z"></path>`,
);

/** Returns a face, whose mouth bends from sad to happy. */
function smiley(share: number): Html {
  const bend = (share - 0.5) * 7;
  const [corners, middle] = [15.5 - bend / 3, 15.5 + bend].map((part) => Number(part.toFixed(1)));
  return drawn(
    html`<circle cx="12" cy="12" r="9.2"></circle><path class="face" d="M8.8 9.2v.8M15.2 9.2v.8M8 ${corners}Q12 ${middle} 16 ${corners}"></path>`,
  );
}

const icons = { stars: () => star, hearts: () => heart, smileys: smiley } as const;

/** Stars, hearts, smileys or numbers; the visitor chooses one. */
export const renderRating = withStyles<'rating'>([levelStyle, iconStyle], (element, place) => {
  const { symbol = attributeDefaults.symbol } = element.attrs;
  const drawing =
    symbol === 'numbers'
      ? { layout: 'levels' }
      : { layout: symbol === 'smileys' ? 'icons' : 'icons symbols', icon: icons[symbol] };
  return renderLevels(fieldAt(element, place), drawing, element.attrs);
});

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
