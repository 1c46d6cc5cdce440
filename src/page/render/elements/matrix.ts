import { getProperty, isRecord } from '#ast/basics/json.ts';
import { matrixRowName } from '#ast/form/fields.ts';
import { matrixRowsOf, optionsOf, takesSeveralInRow } from '#ast/form/tree.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { type Field, fieldAt, withStyles } from './element-context.ts';
import { renderControlGroup } from './frame.ts';

/** A list of rows with their options. On wide screens it is a table with the options as its header. */
const style = `
.matrix_box { container-type: inline-size; margin-block-start: var(--2); }
.matrix, .matrix :is(tbody, tr, th, td) { display: block; inline-size: 100%; }
.matrix thead { display: none; }
.matrix th { padding: 0; font-weight: 400; unicode-bidi: plaintext; text-align: left; }
[dir=rtl] .matrix th { text-align: right; }
.matrix tbody tr { padding-block: var(--3) var(--4); }
.matrix tbody tr + tr { border-block-start: 1px solid var(--line); }
.matrix tbody th { font-weight: 600; margin-block-end: var(--1); }
.matrix td { padding: 0; margin-block-start: var(--2); }
@media (scripting: enabled) { .matrix .take_back { display: none; } }
.matrix .none { border-color: #0000; color: var(--soft); }
.matrix tr:not(:has(:checked:not([value=""]))) .none:not(:focus-within) { display: none; }
.invalid .matrix tbody tr:not(:has(:checked:not([value=""]))) > th { color: var(--bad); }
@container (min-width: 32rem) {
  .matrix:not(.beside) tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: var(--2); }
  .matrix:not(.beside) th { grid-column: 1 / -1; }
  .matrix:not(.beside) td { margin: 0; }
  .matrix.beside { display: table; border-collapse: collapse; table-layout: fixed; }
  .beside thead { display: table-header-group; }
  .beside tbody { display: table-row-group; }
  .beside tr { display: table-row; }
  .beside :is(th, td) { display: table-cell; inline-size: auto; padding: var(--1); vertical-align: middle; }
  .beside :is(th:first-child, thead td:first-child) { inline-size: 30%; padding-inline-start: 0; }
  .beside .take_back { inline-size: 3rem; }
  .matrix.beside thead th { vertical-align: bottom; padding-block-end: var(--2); color: var(--soft); font-size: .9375rem; line-height: 1.25; text-align: center; hyphens: auto; }
  .beside tbody tr { border-block-start: 1px solid var(--line); }
  .beside tbody tr:hover { background: var(--tint); }
  .beside .option { justify-content: center; padding: var(--1); border-color: #0000; background: none !important; box-shadow: none !important; }
  .beside .option > span { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .beside .none input { border-color: #0000; background: none !important; }
  .beside .none input::before { inline-size: 1rem; block-size: 1rem; border-radius: 0; scale: 1; background: currentcolor; clip-path: polygon(10% 0, 50% 40%, 90% 0, 100% 10%, 60% 50%, 100% 90%, 90% 100%, 50% 60%, 10% 100%, 0 90%, 40% 50%, 0 10%); }
}
`;

/** With more options than this, a matrix is not shown as a table. */
const mostBeside = 7;

/** Rows with radio buttons, or with checkboxes if several options may be chosen. */
export const renderMatrix = withStyles<'matrix'>([style], (element, place) => {
  const field = fieldAt(element, place);
  const options = optionsOf(element);
  const isOptional = !takesSeveralInRow(element) && !place.page.shown.isRequired(element, place.row);
  const rows = matrixRowsOf(element).map((row, index) =>
    matrixRow(field, row, { isFirst: index === 0, isOptional }),
  );
  const heads = options.map(({ label }) => html`<th scope="col">${label}</th>`);
  const table = attributes({ class: options.length > mostBeside ? 'matrix' : 'matrix beside' });
  return renderControlGroup(
    field,
    takesSeveralInRow(element) ? 'checkbox' : 'radio',
    html`<div class="matrix_box"><table${table}>
<thead><tr><td></td>${heads}${isOptional && html`<td class="take_back"></td>`}</tr></thead>
<tbody>
${rows}
</tbody>
</table></div>`,
  );
});

type Row = ReturnType<typeof matrixRowsOf>[number];

function matrixRow(
  field: Field,
  row: Row,
  { isFirst, isOptional }: { isFirst: boolean; isOptional: boolean },
): Html {
  const { element, name, value, hasFocus, place } = field;
  const type = takesSeveralInRow(element) ? 'checkbox' : 'radio';
  const chosen = [isRecord(value) ? getProperty(value, row.id) : undefined].flat();
  const cell = (option: string, label: string, control: Parameters<typeof attributes>[0]): Html =>
    html`<label class="${option === '' ? 'option none' : 'option'}"><input${attributes({ type, name: matrixRowName(name, row.id), value: option, ...control })}><span><span class="unseen">${row.label}: </span>${label}</span></label>`;
  // The first button has the field's id, so that links to the field lead to it.
  const cells = optionsOf(element).map(({ id, label }, index) => {
    const isField = isFirst && index === 0;
    const control = { id: isField && name, checked: chosen.includes(id), autofocus: isField && hasFocus };
    return html`<td>${cell(id, label, control)}</td>`;
  });
  const clearCell =
    isOptional &&
    html`<td class="take_back"><noscript>${cell('', place.page.words.noAnswer, {})}</noscript></td>`;
  return html`<tr><th scope="row">${row.label}</th>${cells}${clearCell}</tr>`;
}
