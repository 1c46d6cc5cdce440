import { attributeDefaults } from '#ast/basics/defaults.ts';
import { type Html, html } from '../../markup/html.ts';
import { fieldAt, withStyles } from './element-context.ts';
import { levelStyle, renderLevels } from './levels.ts';

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
