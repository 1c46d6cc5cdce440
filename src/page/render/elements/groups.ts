import { getProperty, isRecord } from '#ast/basics/json.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { fieldName, type RawAnswers } from '#ast/form/fields.ts';
import {
  type Composite,
  type Element,
  type InputElement,
  isAnsweredByVisitor,
  isComposite,
  isInput,
  isRepeatable,
  isVisibleToVisitors,
  layoutOf,
} from '#ast/form/tree.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { type ElementContext, fillPlainText, renderPipedText } from './element-context.ts';
import { boxAttributes, errorBox, errorId } from './frame.ts';
import { countShownRows, rowName } from './rows.ts';

/**
 * Renders an element. It is passed as a parameter, because groups themselves are in the table of all
 * renderers.
 */
type RenderElement = (element: Element, place: ElementContext) => Html;

/** Renders a group: its children in its layout, or its rows if it is repeatable. */
export function renderGroup(composite: Composite, place: ElementContext, render: RenderElement): Html {
  return isRepeatable(composite) ? repeated(composite, place, render) : plain(composite, place, render);
}

function children(composite: Composite, place: ElementContext, render: RenderElement): Html {
  const rendered = composite.children.map((child) => render(child, place));
  return html`<div class="${layoutOf(composite)}">
${rendered}
</div>`;
}

function plain(composite: Composite, place: ElementContext, render: RenderElement): Html {
  return html`<fieldset${boxAttributes(composite, place, 'group')}>
<legend>${renderPipedText(composite.attrs.label, place)}</legend>
${children(composite, place, render)}
</fieldset>`;
}

/**
 * Renders the rows, each with a button to remove it, and a button to add one. All buttons are plain form
 * posts.
 */
function repeated(composite: Composite, place: ElementContext, render: RenderElement): Html {
  const { id } = composite.attrs;
  const label = fillPlainText(composite.attrs.label, place);
  const { errors, focus, words } = place.page;
  const total = countShownRows(composite, place.answers, place.page.files);
  const rows = Array.from({ length: total }, (_, index) => row(composite, index, total, place, render));
  const add = html`<button class="add"${attributes({ name: '_add', value: id, autofocus: focus === id })}>${words.addAnother}<span class="unseen"> ${label}</span></button>`;
  const full = html`<p class="help">${fillTemplate(words.rowsFull, { limit: formLimits.rows })}</p>`;
  return html`<fieldset id="${id}"${boxAttributes(composite, place, 'group')} tabindex="-1" aria-describedby="${errorId(id)}">
<legend>${renderPipedText(composite.attrs.label, place)}</legend>
${errorBox(id, errors.get(id) ?? [])}
${rows}
${total < formLimits.rows ? add : full}
</fieldset>`;
}

function row(
  composite: Composite,
  index: number,
  total: number,
  place: ElementContext,
  render: RenderElement,
): Html {
  const { id } = composite.attrs;
  const label = fillPlainText(composite.attrs.label, place);
  const { page } = place;
  const name = rowName(id, index);
  const { words } = page;
  const title = fillTemplate(words.row, { label, number: index + 1 });
  const inside: ElementContext = {
    ...place,
    page: { ...page, focus: page.focus === name ? firstName(composite, index) : page.focus },
    answers: rowAnswers(place.answers, id, index),
    row: { group: composite, index },
  };
  const remove = html`<button class="remove" name="_remove" value="${name}">${words.remove}<span class="unseen"> ${title}</span></button>`;
  return html`<fieldset id="${name}" class="one_row" tabindex="-1" aria-describedby="${errorId(name)}">
<legend>${title}</legend>
<input type="hidden" name="_row" value="${name}">
${errorBox(name, page.errors.get(name) ?? [])}
${children(composite, inside, render)}
${total > 1 && remove}
</fieldset>`;
}

function rowAnswers(answers: RawAnswers, id: string, index: number): RawAnswers {
  const rows = getProperty(answers, id);
  const row: unknown = Array.isArray(rows) ? rows[index] : undefined;
  return isRecord(row) ? row : {};
}

/**
 * Returns the HTML name of the first answer in the elements. For a repeatable group, this is its first row.
 */
export function firstInputNameIn(elements: readonly Element[]): string | undefined {
  for (const element of elements) {
    if (isInput(element) && isVisibleToVisitors(element) && isAnsweredByVisitor(element))
      return fieldName(element);
    if (!isComposite(element)) continue;
    const first = isRepeatable(element) ? rowName(element.attrs.id, 0) : firstInputNameIn(element.children);
    if (first) return first;
  }
  return undefined;
}

/** Returns the HTML name of the first input of a row. */
function firstName(composite: Composite, index: number): string | undefined {
  const input = firstInput(composite.children);
  return input && fieldName(input, { group: composite, index });
}

function firstInput(elements: readonly Element[]): InputElement | undefined {
  for (const element of elements) {
    if (isInput(element) && isAnsweredByVisitor(element)) return element;
    const inner = isComposite(element) ? firstInput(element.children) : undefined;
    if (inner) return inner;
  }
  return undefined;
}
