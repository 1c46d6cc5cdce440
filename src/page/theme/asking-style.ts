import type { Settings } from '#ast/settings.ts';

/** How a form asks, as far as its pages look otherwise for it. */
export type AskingStyle = Pick<Settings, 'layout' | 'review_step'>;

/** The rules of the list of answers: beside each its button, and below it where there is no room. */
const reviewStyle = `
.review h3 { margin-block-start: var(--5); }
.review h4 { margin: var(--4) 0 0; font-weight: 600; }
.answers { margin: var(--2) 0 0; border-block-start: 1px solid var(--line); }
.answers > div { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--4); align-items: start; padding-block: var(--3); border-block-end: 1px solid var(--line); }
.answers dt { color: var(--soft); font-size: .9375rem; }
.answers + .answers { margin-block-start: 0; border-block-start: 0; }
.answers dd { margin: 0; grid-column: 1; }
.answers dd p { white-space: pre-line; }
.answers dd:last-child { grid-area: 1 / 2 / 3; }
.answers :is(dt, dd p), .review h4 { unicode-bidi: plaintext; text-align: left; }
[dir=rtl] :is(.answers :is(dt, dd p), .review h4) { text-align: right; }
.change { min-block-size: 2.75rem; padding: var(--2); margin: -.625rem calc(-1 * var(--2)); background: none; border: 0; color: var(--accent); font-weight: 400; text-decoration: underline; text-underline-offset: .2em; }
.change:hover { color: var(--ink); }
@media (min-width: 640px) {
  .answers > div { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr) auto; }
  .answers dt { font-size: 1rem; }
  .answers dd { grid-column: 2; }
  .answers dd:last-child { grid-area: 1 / 3; }
}
@media print { .step[hidden]:has(> .review) { display: none !important; } }
`;

/** The rules of one question at a time: it is large, comes in gently, and its options show their keys. */
const questionStyle = `
.step > h2 { color: var(--accent); font-size: 1rem; letter-spacing: 0; }
.step:has(> .review) > h2 { color: inherit; font-size: 1.375rem; }
.step > .stack > .field > :is(label, legend):first-child { font-size: clamp(1.25rem, 1.1rem + .75vw, 1.625rem); line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
:lang(ar) .step > .stack > .field > :is(label, legend) { letter-spacing: 0; }
.step > .stack > .field > :is(label, legend) > .mark { letter-spacing: 0; white-space: nowrap; }
.step > .stack > .labelled > :is(input, select, textarea) { font-size: 1.125rem; }
.step > .stack > .field > .options, .step > .stack > .labelled > :is(input, select, textarea) { margin-block-start: var(--4); }
.step > h2.unseen + .stack { margin-block-start: 0; }
@media (hover: none) { .keys { display: none; } }
@media (scripting: enabled) and (hover: hover) {
  .step > .stack > .field > .options { counter-reset: option; }
  .step > .stack > .field > .options > .option:not(.none)::after {
    counter-increment: option; content: counter(option); content: counter(option) / ""; margin-inline-start: auto; min-inline-size: 1.5rem;
    padding: .0625rem .3125rem; border: 1px solid var(--line); border-radius: .3125rem; color: var(--soft); font-size: .8125rem; text-align: center;
  }
  .step > .stack > .field > .options > .option:nth-child(n + 10)::after, .options_row > .option::after { content: none !important; }
}
@media (prefers-reduced-motion: no-preference) {
  .step { animation: come .2s ease-out; }
  @keyframes come { from { opacity: 0; translate: 0 .75rem; } }
}
`;

/** What the style sheet of a form's pages has besides for how it asks; empty for a form that asks step by step. */
export const askingStyle = ({ layout, review_step: hasReview }: AskingStyle): string =>
  [layout === 'question' && questionStyle, hasReview && reviewStyle]
    .filter((rules) => typeof rules === 'string')
    .join('')
    .replaceAll(/\n\s+/g, '\n')
    .trim();
