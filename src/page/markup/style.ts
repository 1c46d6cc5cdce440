/**
 * The style sheet of the public pages, served inline. One calm column; light and dark; screens of 320 px and
 * wider; logical properties, so that it mirrors for right-to-left languages. Color contrast is at least 4.5:1
 * for text, and at least 3:1 for edges and focus rings (WCAG 2.2, 1.4.3 and 1.4.11). A form's theme changes
 * only the properties in `:root` (theme/page-style.ts).
 */
export const stylesheet = condense(
  `
:root {
  color-scheme: light dark;
  --ground: #e9eeec; --paper: #fff; --ink: #17211e; --soft: #53605b; --edge: #7d8a85; --line: #d9e0dd;
  --tint: #eff5f3; --accent: #0b6655; --deep: #074a3e; --on-accent: #fff; --bad: #b3261e; --bad-tint: #fcf1f0;
  --1: .25rem; --2: .5rem; --3: .75rem; --4: 1rem; --5: 1.5rem; --6: 2rem; --7: 3rem;
  --round: .625rem; --round-paper: 1rem; --control: 3rem; --gap: 1.625rem; --part: 2.5rem;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1312; --paper: #171e1c; --ink: #e8eeec; --soft: #a4b1ac; --edge: #788681; --line: #2d3734;
    --tint: #1f2926; --accent: #63cdb6; --deep: #8fe0ce; --on-accent: #06231d; --bad: #ff9d94; --bad-tint: #2b1d1c;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { min-block-size: 100dvh; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere; accent-color: var(--accent); font: 1rem/1.5 var(--font); }
h1, h2, h3, p, ul, ol, fieldset, legend, hr { margin: 0; padding: 0; border: 0; min-inline-size: 0; }
h1, h2, h3 { line-height: 1.2; text-wrap: balance; }
h1 { font-size: clamp(1.75rem, 1.45rem + 1.5vw, 2.5rem); line-height: 1.12; }
h2 { font-size: 1.375rem; }
h3 { font-size: 1.125rem; }
h1, h2 { letter-spacing: -.018em; }
:lang(ar) :is(h1, h2) { letter-spacing: 0; }
button, input, select, textarea { font: inherit; color: inherit; letter-spacing: inherit; }
a { color: var(--accent); text-underline-offset: .2em; }
.prose, .prose p { white-space: pre-line; }
div.prose { white-space: normal; }
:is(.prose, .help) :is(ul, ol) { padding-inline-start: 1.5rem; margin-block: var(--1); }
:is(.prose, .help) b { color: var(--ink); font-weight: 600; }
/* An author's text may have another direction than the page. Its punctuation then follows the text. */
:is(h1, h2, h3, label, legend, .prose:not(div), .prose :is(p, li), .help :is(p, li), .option span) { unicode-bidi: plaintext; text-align: left; }
[dir=rtl] :is(h1, h2, h3, label, legend, .prose:not(div), .prose :is(p, li), .help :is(p, li), .option span) { text-align: right; }
input, textarea { unicode-bidi: plaintext; }
.lead { color: var(--soft); margin-block-start: var(--3); text-wrap: pretty; }
header > .lead { font-size: 1.0625rem; }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; border: 0; padding: 0; }

main {
  --pad: var(--4);
  background: var(--paper); max-inline-size: 46rem; margin-inline: auto; padding: var(--6) var(--pad) var(--7);
}
header::before {
  content: ""; display: block; inline-size: 2.5rem; block-size: .3125rem; margin-block-end: var(--5); border-radius: 1rem;
  background: var(--accent);
}
picture ~ header::before { display: none; }
picture { display: contents; }
.cover {
  display: block; inline-size: calc(100% + 2 * var(--pad)); block-size: auto; aspect-ratio: 5 / 2; object-fit: cover;
  margin: calc(-1 * var(--6)) calc(-1 * var(--pad)) var(--6);
}
.logo { display: block; block-size: 3.5rem; inline-size: auto; max-inline-size: 100%; object-fit: contain; object-position: left; margin-block-end: var(--5); }
[dir=rtl] .logo { object-position: right; }
.step { margin-block-start: var(--part); }
.step + .step:not([hidden]) { border-block-start: 1px solid var(--line); padding-block-start: var(--part); }
h2.step + p { margin-block-start: var(--2); }
.progress + .step, .step[hidden] + .step { border: 0; padding: 0; }
.step > :is(h2, .lead) + :is(.stack, .row, .grid_2, .grid_3, .grid_4) { margin-block-start: var(--5); }
.number { display: block; margin-block-end: var(--1); color: var(--accent); font-size: .875rem; letter-spacing: 0; }
.progress { margin-block-start: var(--5); color: var(--soft); font-size: .875rem; font-variant-numeric: tabular-nums; }
progress {
  appearance: none; display: block; inline-size: 100%; block-size: .375rem; margin-block-start: var(--2);
  border: 0; border-radius: 1rem; overflow: hidden; background: var(--line); color: var(--accent);
}
::-webkit-progress-bar { background: var(--line); }
::-webkit-progress-value { background: var(--accent); border-radius: 1rem; }
::-moz-progress-bar { background: var(--accent); border-radius: 1rem; }

.stack, .row, .grid_2, .grid_3, .grid_4 { display: grid; gap: var(--gap) var(--4); grid-template-columns: minmax(0, 1fr); }
.field { min-inline-size: 0; }
label, legend { font-weight: 600; }
legend { inline-size: 100%; }
.mark, .size { color: var(--soft); font-weight: 400; font-size: .875rem; }
.help { color: var(--soft); font-size: .9375rem; margin-block-start: .125rem; }
.help p { white-space: pre-line; }
.error, .unread { color: var(--bad); font-weight: 600; }
.error:empty, .unread { display: none; }
.error p, .error:empty + .unread:has(+ :user-invalid) { display: flex; gap: var(--2); margin-block-start: var(--1); }
.error p::before, .unread::before {
  content: "!"; content: "!" / ""; flex: none; inline-size: 1.25rem; block-size: 1.25rem; margin-block-start: .125rem;
  border-radius: 50%; outline: 1px solid #0000; background: var(--bad); color: var(--paper); font-size: .875rem; line-height: 1.25rem; text-align: center;
}
.invalid { border-inline-start: 4px solid var(--bad); padding-inline-start: var(--4); }
/* A legend is on the border of its group by default, and the error bar would begin in its middle. */
.invalid > legend { float: left; inline-size: 100%; }
.invalid > legend + * { clear: both; }

.labelled > :is(input, select, textarea), .other {
  display: block; inline-size: 100%; min-inline-size: 0; min-block-size: var(--control); margin-block-start: var(--2); padding: .5rem .875rem;
  background: var(--paper); border: 1px solid var(--edge); border-radius: var(--round); scroll-margin-block-start: 9rem;
}
.labelled > .labelled { margin-block: var(--4); }
.labelled > textarea { min-block-size: 7rem; padding-block: .6875rem; resize: vertical; field-sizing: content; max-block-size: 32rem; }
.labelled > :is(select, [role=combobox]) {
  appearance: none; padding-inline-end: 2.75rem; background-repeat: no-repeat; background-size: .4375rem .4375rem;
  background-image: linear-gradient(45deg, #0000 42%, var(--soft) 43% 57%, #0000 58%), linear-gradient(-45deg, #0000 42%, var(--soft) 43% 57%, #0000 58%);
  background-position: right 1.3125rem center, right 1rem center;
}
[dir=rtl] .labelled > :is(select, [role=combobox]) { background-position: left 1rem center, left 1.3125rem center; }
::placeholder { color: var(--soft); opacity: 1; }
:is(input, select, textarea):hover, .option:hover { border-color: var(--ink); }
.invalid :is(input, select, textarea), .invalid .option, .labelled > :user-invalid { border-color: var(--bad); }
.invalid :is(input:not([type=radio], [type=checkbox], [type=file]), select, textarea) { box-shadow: inset 0 0 0 1px var(--bad); }
.labelled > [type=file] { padding: var(--4); background: var(--tint); border-style: dashed; color: var(--soft); cursor: pointer; }
.zone, .count { color: var(--soft); font-size: .9375rem; }
.zone { display: none; }
.count { margin-block-start: var(--1); font-variant-numeric: tabular-nums; }
.over { color: var(--bad); font-weight: 600; }
/* With a script, the whole file input is one click target without the browser's own texts. */
@media (scripting: enabled) {
  .labelled > [type=file]:not(:user-valid), .sends_files [type=file] { block-size: 6rem; color: #0000; }
  .labelled > [type=file]:not(:user-valid)::file-selector-button, .sends_files [type=file]::file-selector-button { display: none; }
  [type=file]:not(:user-valid) + .zone, .sends_files .zone {
    display: flex; flex-flow: column; align-items: center; justify-content: center; block-size: 6rem; margin-block-start: -6rem;
    position: relative; pointer-events: none; text-align: center;
  }
  .zone b { color: var(--ink); font-weight: 600; }
  .zone b::before { content: ""; display: inline-block; inline-size: .75em; block-size: .8em; margin-inline-end: var(--2); background: var(--accent); clip-path: polygon(50% 0, 100% 50%, 64% 50%, 64% 100%, 36% 100%, 36% 50%, 0 50%); }
}
::file-selector-button {
  font: inherit; font-weight: 600; color: var(--accent); background: var(--paper); border: 1px solid var(--edge);
  border-radius: calc(.8 * var(--round)); padding: var(--2) var(--4); margin-inline-end: var(--4); min-block-size: 2.75rem; cursor: pointer;
}
.options > .other { inline-size: auto; margin: 0; margin-inline-start: 2.875rem; grid-column: 1 / -1; flex: 1 0 100%; }
:is(.options_row, .options_grid_2, .options_grid_3, .options_grid_4) > .other { margin: 0; }
:is(.option, select):not(:has([value=_other]:checked)) + .other { display: none; }
.options { display: grid; gap: var(--2); margin-block-start: var(--2); }
:is(.options_grid_2, .options_grid_3, .options_grid_4) { grid-template-columns: repeat(2, minmax(0, 1fr)); }
:is(.options_grid_2, .options_grid_3, .options_grid_4) > .option { gap: var(--2); padding-inline: .625rem; hyphens: auto; }
.options_row { display: flex; flex-wrap: wrap; gap: .25rem; }
.options_row > .option { position: relative; gap: .5rem; justify-content: center; padding: .5625rem .75rem; min-inline-size: 2.75rem; }
/* Short inline options look like a row of toggle buttons. */
.options_row > .option > [type=radio] { position: absolute; inset: 0; inline-size: auto; block-size: auto; opacity: 0; }
.options_row > .option:has([type=radio]:checked) { background: var(--accent); color: var(--on-accent); }
.options .none { border-color: #0000; background: none; color: var(--soft); }
.options > noscript { grid-column: 1 / -1; }
.options:not(:has(:checked:not([value=""]))) .none:not(:focus-within) { display: none; }
.option {
  display: flex; gap: var(--3); align-items: center; min-block-size: var(--control); padding: .5625rem .875rem; font-weight: 400;
  border: 1px solid var(--edge); border-radius: var(--round); cursor: pointer;
}
.option:hover { background: var(--tint); }
:is(.option, .drop) input {
  appearance: none; flex: none; display: grid; place-content: center; inline-size: 1.25rem; block-size: 1.25rem; margin: 0;
  background: var(--paper); border: 1.5px solid var(--edge); border-radius: .3125rem; scroll-margin-block-start: 9rem; cursor: pointer;
}
[type=radio] { border-radius: 50% !important; }
:is(.option, .drop) input::before { content: ""; inline-size: .75rem; block-size: .75rem; background: var(--on-accent); scale: 0; }
.option [type=radio]::before { inline-size: .5rem; block-size: .5rem; border-radius: 50%; }
[type=checkbox]::before { clip-path: polygon(0 55%, 14% 41%, 38% 65%, 86% 12%, 100% 26%, 38% 93%); }
:is(.option, .drop) input:checked { background: var(--accent); border-color: var(--accent); }
:is(.option, .drop) input:checked::before { scale: 1; }
.option:has(:checked) { border-color: var(--accent); background: var(--tint); box-shadow: inset 0 0 0 1px var(--accent); }
.held { list-style: none; margin-block-start: var(--2); }
.held li {
  display: flex; flex-wrap: wrap; gap: 0 var(--3); align-items: center; padding: var(--2) .875rem; border: 1px solid var(--line); border-radius: var(--round);
}
.held li + li { margin-block-start: var(--2); }
.held li:has(.error) { border-color: var(--bad); }
.held img, .held li:not(:has(img))::before { inline-size: 2.75rem; block-size: 2.75rem; border-radius: calc(.5 * var(--round)); object-fit: cover; }
.held li:not(:has(img))::before {
  content: ""; background: repeating-linear-gradient(var(--soft) 0 2px, #0000 2px 6px) center / 1.125rem 1.25rem no-repeat var(--tint);
}
.filename { flex: 1 1 6rem; min-inline-size: 0; }
.held .error { flex: 1 1 14rem; min-inline-size: 0; }
.filename .size { display: block; }
.filename ~ .error { flex-basis: 100%; margin-block-start: var(--1); }
.drop { display: flex; gap: var(--2); align-items: center; min-block-size: 2.75rem; font-weight: 400; cursor: pointer; }
/* Buttons that look like links, such as one that clears an answer. */
:is(.quiet, .held button) { min-block-size: 2.75rem; padding: var(--2); background: none; border: 0; color: var(--soft); font-weight: 400; text-decoration: underline; text-underline-offset: .2em; }
:is(.quiet, .held button):hover { color: var(--ink); }
.held button { margin-inline: calc(-1 * var(--2)); }
.held button + button { margin-inline-start: 0; }
.field:has(> legend > .mark:not([hidden])) .clears { display: none; }
.held progress { flex: 1 1 100%; order: 1; margin-block: var(--2) var(--1); }
.saved_now { align-self: center; text-align: center; }
.refused { margin-block-start: var(--2); color: var(--bad); font-weight: 600; animation: fade 1s 10s forwards; }
.refused:hover { animation-play-state: paused; }
@keyframes fade { to { opacity: 0; } }
.photo { display: none; margin-block-start: var(--2); }
@media (pointer: coarse) { .sends_files .photo { display: block; inline-size: 100%; } }
.dropping [type=file] { outline: 3px dashed var(--accent); outline-offset: 2px; }
@media (hover: none) { .zone span { display: none; } }
hr.field { border-block-start: 1px solid var(--line); inline-size: 100%; align-self: center; }

.stack > :is(h2, h3, .group):not(:first-child) { margin-block-start: var(--3); }
.stack > .group:not(:last-child) { margin-block-end: var(--3); }
.stack > :is(h2, h3):has(+ p) { margin-block-end: calc(var(--2) - var(--gap)); }
.group > legend { font-size: 1.125rem; margin-block-end: var(--3); }
.one_row { position: relative; border: 1px solid var(--line); border-radius: var(--round); padding: var(--4); margin-block-end: var(--3); }
.one_row > legend { float: inline-start; margin-block-end: var(--4); padding-inline-end: 6rem; }
.one_row > legend ~ div { clear: both; }
button { min-block-size: var(--control); padding: .5rem 1.25rem; font-weight: 600; border-radius: var(--round); cursor: pointer; }
.actions { display: flex; flex-wrap: wrap; gap: var(--3); margin-block-start: var(--part); }
.actions > * { flex: 1 1 auto; }
:is(.submit, .next) { flex-grow: 4; background: var(--accent); color: var(--on-accent); border: 1px solid var(--accent); font-size: 1.0625rem; }
:is(.submit, .next):hover { background: var(--deep); border-color: var(--deep); }
.submit[aria-disabled=true] { cursor: progress; }
:is(.back, .save, .add, .remove, .photo) { background: none; color: var(--accent); border: 1px solid var(--edge); }
.save { flex-basis: 100%; border-color: #0000; }
.add::before { content: "+"; content: "+" / ""; margin-inline-end: var(--2); }
.add { inline-size: 100%; border-style: dashed; }
.remove { min-block-size: 2.75rem; padding: var(--2) var(--3); color: var(--soft); border-color: #0000; font-weight: 400; text-decoration: underline; text-underline-offset: .2em; }
.one_row > .remove { position: absolute; inset-block-start: var(--1); inset-inline-end: var(--1); }
:is(.back, .save, .add, .remove, .photo):hover { background: var(--tint); color: var(--ink); }
.summary { margin-block-start: var(--5); scroll-margin-block: var(--4) 50dvh; padding: var(--4) var(--5); background: var(--bad-tint); border: 2px solid var(--bad); border-radius: var(--round); }
.summary > p { margin-block-start: var(--2); }
.summary > button { margin-block-start: var(--4); }
.summary ul { list-style: none; margin-block-start: var(--1); max-block-size: 30dvh; overflow: auto; }
.summary a { display: inline-block; padding-block: var(--2); color: var(--bad); font-weight: 600; }
.hint { margin-block-start: var(--5); padding: var(--3) var(--4); background: var(--tint); border-inline-start: 4px solid var(--accent); border-start-end-radius: var(--round); border-end-end-radius: var(--round); }
/* The offline notice stays visible in a long form. */
form > .hint { position: sticky; inset-block-end: var(--3); z-index: 1; }
.notice { padding-block: var(--4); }
.done h1 { position: relative; }
.done h1::before {
  content: ""; display: block; inline-size: 3.5rem; block-size: 3.5rem; margin-block-end: var(--5); border-radius: 50%; background: var(--accent);
}
.done h1::after {
  content: ""; position: absolute; inset-block-start: .875rem; inset-inline-start: 1.3125rem; inline-size: .875rem; block-size: 1.5rem;
  border: solid var(--on-accent); border-width: 0 .25rem .25rem 0; rotate: 45deg;
}
header + .notice { margin-block-start: var(--5); padding-block-start: var(--5); border-block-start: 1px solid var(--line); }
:is(.receipt, .edit_link) { margin-block-start: var(--6); padding: var(--4) var(--5); background: var(--tint); border-radius: var(--round); color: var(--soft); }
.receipt a { color: inherit; }
.edit_link a { color: var(--ink); font-weight: 600; }
.receipt code { color: var(--ink); font: 600 1.125rem/1.5 var(--font); font-variant-numeric: tabular-nums; letter-spacing: .02em; }
.receipt ~ :is(p, form, .edit_link) { margin-block-start: var(--5); }
.copied { display: flex; flex-wrap: wrap; gap: 0 var(--4); align-items: center; justify-content: space-between; }
.copied > :first-child { flex: 1 1 10rem; min-inline-size: 0; }
:is(.edit_link summary, .copy) { display: inline-flex; align-items: center; min-block-size: 2.75rem; color: var(--ink); font-weight: 600; cursor: pointer; text-decoration: underline; text-underline-offset: .2em; }
.copy { padding: 0; background: none; border: 0; }
.again { display: inline-flex; align-items: center; justify-content: center; min-block-size: var(--control); padding: .5rem 1.25rem; border: 1px solid var(--edge); border-radius: var(--round); font-weight: 600; text-decoration: none; }

:focus-visible, .labelled > :focus-within, .option:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; }
/* The page moves the focus here only for its position, so no ring is needed. */
:is(.summary, .hint, h1, h2):focus { outline: none; }
.option input:focus-visible { outline: none; }

/* An embedded form has no background and is only as high as its content. */
[data-embedded] body { background: none; }
[data-embedded] main { max-inline-size: none; }

/* After the first step, the form's name is small, so that the question is near the top. */
main:has(form > .step:first-of-type[hidden]) {
  @media (max-width: 639px) { padding-block-start: var(--4); }
  .cover, .logo, header > .lead, header::before { display: none; }
  h1 { font-size: 1rem; letter-spacing: 0; }
  .progress p { flex: none; }
  .progress { display: flex; gap: var(--4); align-items: center; margin-block-start: var(--2); white-space: nowrap; }
  progress { margin: 0; }
  .step { margin-block-start: var(--5); }
}
/* In a very narrow frame, options do not fit side by side. */
@media (max-width: 319px) { :is(.options_grid_2, .options_grid_3, .options_grid_4) { grid-template-columns: minmax(0, 1fr); } }
@media (min-width: 640px) {
  body { padding: var(--6) var(--4); background: radial-gradient(80rem 44rem at 50% -8rem, color-mix(in oklab, var(--accent) 9%, var(--ground)), var(--ground)) no-repeat var(--ground); }
  main { --pad: var(--6); padding: var(--6) var(--pad) var(--7); border-radius: var(--round-paper); box-shadow: 0 1px 2px #0001, 0 1rem 3rem #0001; }
  [data-embedded] body { padding: 0; }
  [data-embedded] main { box-shadow: none; }
  .cover { aspect-ratio: 4 / 1; border-radius: var(--round-paper) var(--round-paper) 0 0; }
  .row { grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); }
  .grid_2, .grid_4 { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .grid_3 { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  :is(.grid_2, .grid_3, .grid_4) > :is(.span_2, .span_3, .span_4) { grid-column: 1 / -1; }
  .grid_3 > .span_2 { grid-column: span 2; }
  .options_grid_3 { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .options_grid_4 { grid-template-columns: repeat(4, minmax(0, 1fr)); }
  /* Label, help, error, control and count of all fields in a row share five lines, so that the controls are aligned. */
  :is(.row, .grid_2, .grid_3, .grid_4) {
    grid-auto-rows: minmax(min-content, 0) minmax(min-content, 0) minmax(min-content, 0) minmax(min-content, 0) auto;
    row-gap: 0; margin-block-end: calc(-1 * var(--gap));
    > * { grid-row: span 5; margin-block-end: var(--gap); }
    > .labelled:not(:has(> :is([type=file], .pad))) {
      display: grid; grid-template: subgrid / minmax(0, 1fr);
      > label { grid-row: 1 / 4; align-self: end; }
      > label:has(+ .error:not(:empty)) { grid-row: 1 / 3; }
      > label:has(+ .help) { grid-row: 1; }
      > .help { grid-row: 2; }
      > :is(.error, .unread) { grid-row: 3; }
      > :is(input, select, textarea, output) { grid-row: 4; align-self: start; }
      > :is(.count, .other) { grid-row: 5; }
    }
  }
  .actions > *, .add { flex-grow: 0; inline-size: auto; }
  :is(.submit, .next) { min-inline-size: 11rem; }
  .save { flex-basis: auto; margin-inline: auto -1.25rem; }
}
@media (min-width: 900px) {
  body { padding-block: 4rem; }
  main { --pad: 3.5rem; padding-block: 3.5rem; }
  main:has(.grid_4) { max-inline-size: 60rem; }
  [data-embedded] main { --pad: max(3.5rem, 50vw - 23rem); }
  .cover { margin-block-start: -3.5rem; }
  .grid_4 { grid-template-columns: repeat(4, minmax(0, 1fr)); }
  .grid_4 > .span_2 { grid-column: span 2; }
  .grid_4 > .span_3 { grid-column: span 3; }
}
@media (prefers-reduced-motion: no-preference) {
  button, input, .option { transition: background-color .12s, border-color .12s; }
  ::-webkit-progress-value { transition: inline-size .3s; }
}
@media (forced-colors: active) {
  .labelled > :is(select, [role=combobox]) { appearance: auto; background-image: none; }
  :is(.option, .drop) input { appearance: auto; }
  .option:has(:checked) { border-color: Highlight; }
  .options_row > .option:has([type=radio]:checked) { forced-color-adjust: none; background: Highlight; color: HighlightText; }
  progress { border: 1px solid; }
  ::-webkit-progress-value { forced-color-adjust: none; background: Highlight; }
  ::-moz-progress-bar { forced-color-adjust: none; background: Highlight; }
  :is(.submit, .next) { forced-color-adjust: none; background: ButtonText; color: ButtonFace; }
}
@media print {
  body { background: none; padding: 0; }
  main { border: 0; box-shadow: none; padding: 0; max-inline-size: none; }
  button, .progress, .zone, .none { display: none !important; }
  .step[hidden] { display: block !important; }
  .field { break-inside: avoid; }
  .option, .option input { print-color-adjust: exact; }
}
`,
);

/** Removes indentation, comments, and semicolons before a brace. */
function condense(source: string): string {
  return source
    .replaceAll(/\/\*.*?\*\//g, '')
    .replaceAll(/\n\s+/g, '\n')
    .replaceAll('; }', ' }');
}
