import { scaleLevelsOf } from '#ast/form/tree.ts';
import { type Html, html } from '../../markup/html.ts';
import { renderChoices } from './choices.ts';
import type { Field } from './element-context.ts';

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
export function renderLevels(
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
export const levelStyle = `
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
