/**
 * The style sheet of the public pages, served inline. One calm column on a quiet ground; light and dark; 320 px
 * up; logical properties, so that it mirrors for right-to-left languages. Colours are chosen for contrast: text
 * 4.5:1 and more, edges and focus rings 3:1 and more (WCAG 2.2, 1.4.3 and 1.4.11).
 */
export const stylesheet = `
:root {
  color-scheme: light dark;
  --ground: #e9eeec; --paper: #fff; --ink: #17211e; --soft: #53605b; --edge: #7d8a85; --line: #d9e0dd;
  --tint: #eff5f3; --accent: #0b6655; --deep: #074a3e; --on-accent: #fff; --bad: #b3261e; --bad-tint: #fcf1f0;
  --1: .25rem; --2: .5rem; --3: .75rem; --4: 1rem; --5: 1.5rem; --6: 2rem; --7: 3rem;
  --round: .625rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1312; --paper: #171e1c; --ink: #e8eeec; --soft: #a4b1ac; --edge: #788681; --line: #2d3734;
    --tint: #1f2926; --accent: #63cdb6; --deep: #8fe0ce; --on-accent: #06231d; --bad: #ff9d94; --bad-tint: #2b1d1c;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
}
h1, h2, h3, p, ul, fieldset, legend, hr { margin: 0; padding: 0; border: 0; min-inline-size: 0; }
h1, h2, h3 { line-height: 1.2; text-wrap: balance; letter-spacing: -.011em; }
h1 { font-size: clamp(1.75rem, 1.5rem + 1.4vw, 2.375rem); letter-spacing: -.02em; }
h2 { font-size: 1.375rem; }
h3 { font-size: 1.125rem; }
button, input, select, textarea { font: inherit; color: inherit; }
.prose { white-space: pre-line; }
.lead { color: var(--soft); margin-block-start: var(--3); }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; border: 0; padding: 0; }

main {
  background: var(--paper); max-inline-size: 46rem; margin-inline: auto; padding: var(--6) var(--4) var(--7);
  border-block-start: 6px solid var(--accent);
}
.step { margin-block-start: var(--6); }
.step + .step { border-block-start: 1px solid var(--line); margin-block-start: var(--7); padding-block-start: var(--6); }
.step > :is(h2, .lead) + :is(.stack, .row, .grid_2, .grid_3, .grid_4) { margin-block-start: var(--5); }
.number { display: block; margin-block-end: var(--1); color: var(--accent); font-size: .875rem; letter-spacing: 0; }

.stack, .row, .grid_2, .grid_3, .grid_4 { display: grid; gap: var(--5) var(--4); grid-template-columns: minmax(0, 1fr); }
.field { min-inline-size: 0; }
label, legend { font-weight: 600; }
legend { inline-size: 100%; }
.mark, .size { color: var(--soft); font-weight: 400; font-size: .875rem; }
.help { color: var(--soft); font-size: .9375rem; }
.help p { white-space: pre-line; }
.error { color: var(--bad); font-weight: 600; }
.error:empty { display: none; }
.error p { display: flex; gap: var(--2); margin-block-start: var(--1); }
.error p::before {
  content: "!"; content: "!" / ""; flex: none; inline-size: 1.25rem; block-size: 1.25rem; margin-block-start: .125rem;
  border-radius: 50%; outline: 1px solid #0000; background: var(--bad); color: var(--paper); font-size: .875rem; line-height: 1.25rem; text-align: center;
}
.invalid { border-inline-start: 4px solid var(--bad); padding-inline-start: var(--4); }

.labelled > :is(input, select, textarea) {
  display: block; inline-size: 100%; min-inline-size: 0; min-block-size: 3rem; margin-block-start: var(--2); padding: .625rem .875rem;
  background: var(--paper); border: 1px solid var(--edge); border-radius: var(--round); scroll-margin-block-start: 9rem;
}
.labelled > textarea { min-block-size: 7rem; resize: vertical; field-sizing: content; max-block-size: 32rem; }
.labelled > select {
  appearance: none; padding-inline-end: 2.75rem; background-repeat: no-repeat; background-size: .4375rem .4375rem;
  background-image: linear-gradient(45deg, #0000 42%, var(--soft) 43% 57%, #0000 58%), linear-gradient(-45deg, #0000 42%, var(--soft) 43% 57%, #0000 58%);
  background-position: right 1.3125rem center, right 1rem center;
}
[dir=rtl] .labelled > select { background-position: left 1rem center, left 1.3125rem center; }
::placeholder { color: var(--soft); opacity: 1; }
:is(input, select, textarea):hover, .option:hover { border-color: var(--ink); }
.invalid :is(input, select, textarea), .invalid .option, .labelled > :user-invalid { border-color: var(--bad); }
.labelled > [type=file] { padding: var(--4); background: var(--tint); border-style: dashed; color: var(--soft); }
::file-selector-button {
  font: inherit; font-weight: 600; color: var(--accent); background: var(--paper); border: 1px solid var(--edge);
  border-radius: .5rem; padding: var(--2) var(--4); margin-inline-end: var(--4); min-block-size: 2.75rem; cursor: pointer;
}
.options { display: grid; gap: var(--2); margin-block-start: var(--2); }
.pair { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.option {
  display: flex; gap: var(--3); align-items: flex-start; min-block-size: 3rem; padding: .6875rem .875rem; font-weight: 400;
  border: 1px solid var(--edge); border-radius: var(--round); cursor: pointer;
}
:is(.option, .drop) input { flex: none; inline-size: 1.25rem; block-size: 1.25rem; margin: .125rem 0; accent-color: var(--accent); scroll-margin-block-start: 9rem; }
.option:has(:checked) { border-color: var(--accent); background: var(--tint); box-shadow: inset 0 0 0 1px var(--accent); }
.held { list-style: none; margin-block-start: var(--2); }
.held li { display: flex; flex-wrap: wrap; gap: 0 var(--4); align-items: center; justify-content: space-between; padding-inline: .875rem; border: 1px solid var(--line); border-radius: var(--round); }
.held li + li { margin-block-start: var(--2); }
.drop { display: flex; gap: var(--2); align-items: center; min-block-size: 2.75rem; font-weight: 400; cursor: pointer; }
hr.field { border-block-start: 1px solid var(--line); inline-size: 100%; align-self: center; }

.stack > :is(h2, h3, .group):not(:first-child) { margin-block-start: var(--3); }
.stack > .group:not(:last-child) { margin-block-end: var(--3); }
.stack > :is(h2, h3):has(+ p) { margin-block-end: calc(-1 * var(--3)); }
.group > legend { font-size: 1.125rem; margin-block-end: var(--3); }
.one_row { position: relative; border: 1px solid var(--line); border-radius: var(--round); padding: var(--4); margin-block-end: var(--3); }
.one_row > legend { float: inline-start; margin-block-end: var(--4); padding-inline-end: 6rem; }
.one_row > legend ~ div { clear: both; }
button { min-block-size: 3rem; padding: .625rem 1.25rem; font-weight: 600; border-radius: var(--round); cursor: pointer; }
.submit { display: block; inline-size: 100%; margin-block-start: var(--7); background: var(--accent); color: var(--on-accent); border: 1px solid var(--accent); font-size: 1.0625rem; }
.submit:hover { background: var(--deep); }
.add, .remove { background: none; color: var(--accent); border: 1px solid var(--edge); }
.add::before { content: "+"; content: "+" / ""; margin-inline-end: var(--2); }
.add { inline-size: 100%; border-style: dashed; }
.remove { position: absolute; inset-block-start: var(--1); inset-inline-end: var(--1); min-block-size: 2.75rem; padding: var(--2) var(--3); color: var(--soft); border-color: #0000; font-weight: 400; text-decoration: underline; text-underline-offset: .2em; }
:is(.add, .remove):hover { background: var(--tint); color: var(--ink); }
.summary { margin-block-end: var(--6); padding: var(--4) var(--5); background: var(--bad-tint); border: 2px solid var(--bad); border-radius: var(--round); }
.summary ul { list-style: none; margin-block-start: var(--2); }
.summary a { display: inline-block; padding-block: var(--2); color: var(--bad); font-weight: 600; text-underline-offset: .2em; }
.notice { padding-block: var(--4); }
.done h1::before {
  content: "✓"; content: "✓" / ""; display: block; inline-size: 3rem; block-size: 3rem; margin-block-end: var(--5); border-radius: 50%;
  background: var(--accent); color: var(--on-accent); font-size: 1.5rem; line-height: 3rem; text-align: center;
}
.receipt { margin-block-start: var(--6); padding-block-start: var(--4); border-block-start: 1px solid var(--line); color: var(--soft); }
.receipt code { color: var(--ink); font-size: 1rem; }

:focus-visible, .labelled > :focus-within, .option:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; }
/* Focus that a page sets on what is no control: only its place matters. */
.summary:focus, h1:focus { outline: none; }
.option input:focus-visible { outline: none; }

@media (min-width: 640px) {
  body { padding: var(--6) var(--4); background: var(--ground); }
  main { padding: var(--6); border-radius: 1rem; box-shadow: 0 1px 2px #0001, 0 12px 40px #0001; }
  .row { display: flex; flex-wrap: wrap; align-items: flex-start; }
  .row > .field { flex: 1 1 10rem; }
  .grid_2, .grid_4 { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .grid_3 { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  :is(.grid_2, .grid_3, .grid_4) > :is(.span_2, .span_3, .span_4) { grid-column: 1 / -1; }
  .grid_3 > .span_2 { grid-column: span 2; }
  :is(.row, .grid_2, .grid_3, .grid_4):not(:has(> :not(.labelled, hr, .span_2, .span_3, .span_4), textarea, [type=file])) { align-items: end; }
  .submit, .add { inline-size: auto; }
  .submit { min-inline-size: 12rem; }
}
@media (min-width: 900px) {
  body { padding-block: var(--7); }
  main { padding: var(--7); }
  main:has(.grid_4) { max-inline-size: 60rem; }
  .grid_4 { grid-template-columns: repeat(4, minmax(0, 1fr)); }
  .grid_4 > .span_2 { grid-column: span 2; }
  .grid_4 > .span_3 { grid-column: span 3; }
}
@media (forced-colors: active) {
  .labelled > select { appearance: auto; background-image: none; }
  .option:has(:checked) { border-color: Highlight; }
  .submit { forced-color-adjust: none; background: ButtonText; color: ButtonFace; }
}
@media print {
  body { background: none; padding: 0; }
  main { border: 0; box-shadow: none; padding: 0; max-inline-size: none; }
  button { display: none; }
  .field { break-inside: avoid; }
}
`;
