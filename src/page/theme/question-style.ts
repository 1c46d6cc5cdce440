/**
 * Styles of one question at a time. A page of its own fills the window with the question, below a thin bar; an
 * embedded one is as high as its content. The bar is full on the page after sending. With a script, questions
 * move in, and options show their keys.
 */
export const questionStyle = `
.step > h2 { color: var(--accent); font-size: 1rem; letter-spacing: 0; }
.step:has(> .review) > h2 { color: inherit; font-size: 1.375rem; }
.step > .stack > .field > :is(label, legend):first-child { font-size: clamp(1.375rem, 1.1rem + 1.25vw, 1.875rem); line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
:lang(ar) .step > .stack > .field > :is(label, legend) { letter-spacing: 0; }
.step > .stack > .field > :is(label, legend) > .mark { letter-spacing: 0; white-space: nowrap; }
.step > .stack > .labelled > :is(input, select, textarea) { font-size: 1.125rem; }
.step > .stack > .field > .options, .step > .stack > .labelled > :is(input, select, textarea) { margin-block-start: var(--4); }
.step > h2.unseen + .stack { margin-block-start: 0; }
html:not([data-embedded]) {
  body { padding: 0; background: var(--paper); }
  main {
    display: flex; flex-flow: column; position: relative; min-block-size: 100dvh; max-inline-size: none; border-radius: 0; box-shadow: none;
    padding: var(--6) max(var(--pad), 50vw - 21rem);
  }
  .cover { align-self: center; inline-size: 100vw; max-block-size: 25dvh; border-radius: 0; margin: calc(-1 * var(--6)) 0 var(--6); }
  main > form { flex: auto; display: flex; flex-flow: column; }
  .progress { display: block; margin-block-start: var(--4); }
  .progress progress, main:has(> .done)::before { position: absolute; inset: 0 0 auto; block-size: .3125rem; margin: 0; border-radius: 0; }
  main:has(> .done)::before { content: ""; background: var(--accent); }
  .actions { align-items: center; margin-block-start: var(--6); }
  @media (min-width: 640px) { .progress, .actions, .done { margin-block-end: auto; } form:not(:has(.progress)) > .step, .done { margin-block-start: auto; } }
}
.keys { display: none; }
@media (scripting: enabled) and (hover: hover) {
  .keys { display: block; color: var(--soft); font-size: .9375rem; }
  .actions > .keys { flex: none; }
  .step > .stack > .field > .options { counter-reset: option; }
  .step > .stack > .field > .options > .option:not(.none)::after {
    counter-increment: option; content: counter(option, upper-alpha); content: counter(option, upper-alpha) / ""; margin-inline-start: auto; min-inline-size: 1.5rem;
    padding: .0625rem .3125rem; border: 1px solid var(--line); border-radius: .3125rem; color: var(--soft); font-size: .8125rem; text-align: center;
  }
  .step > .stack > .field > .options > .option:nth-child(n + 27)::after, .options_row > .option::after { content: none !important; }
}
@media (scripting: enabled) and (prefers-reduced-motion: no-preference) {
  .step { animation: come .2s ease-out; }
  .returned { animation-name: come-back; }
  @keyframes come { from { opacity: 0; translate: 0 2rem; } }
  @keyframes come-back { from { opacity: 0; translate: 0 -2rem; } }
}
`;
