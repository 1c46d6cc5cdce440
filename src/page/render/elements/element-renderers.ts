import { memoizeByObject } from '#ast/basics/memoize.ts';
import type { ElementType } from '#ast/form/elements.ts';
import {
  type Element,
  type Form,
  inputOptionsById,
  isInput,
  isSkipped,
  walkElements,
} from '#ast/form/tree.ts';
import { type Html, html } from '../../markup/html.ts';
import { renderCalculation, renderScore } from './calculation.ts';
import {
  isSearchable,
  renderCheckboxes,
  renderConsent,
  renderDropdown,
  renderPictureChoice,
  renderRadios,
  renderYesNo,
} from './choices.ts';
import { renderHeading, renderImageElement, renderParagraph, renderRichTextElement } from './content.ts';
import { type ElementContext, type ElementRenderer, fieldAt, withStyles } from './element-context.ts';
import { renderSignature, renderUpload } from './file-inputs.ts';
import { boxAttributes } from './frame.ts';
import { renderGroup } from './groups.ts';
import { renderRating, renderScale } from './levels.ts';
import { renderMatrix } from './matrix.ts';
import { renderRanking } from './ranking.ts';
import {
  momentStyle,
  renderEmailInput,
  renderHiddenInput,
  renderMomentInput,
  renderNumberInput,
  renderTextarea,
  renderTextInput,
  uncorrectedInputAttributes,
} from './text-inputs.ts';

/** The renderer of every element type. */
const elementRenderers: { readonly [Type in ElementType]: ElementRenderer<Type> } = {
  text: (element, place) => renderTextInput(fieldAt(element, place), { type: 'text' }),
  textarea: (element, place) => renderTextarea(fieldAt(element, place)),
  // Browsers must not validate these types: the server reports all problems together.
  email: (element, place) => renderEmailInput(fieldAt(element, place)),
  phone: (element, place) => renderTextInput(fieldAt(element, place), { type: 'tel' }),
  url: (element, place) =>
    renderTextInput(fieldAt(element, place), { ...uncorrectedInputAttributes, inputmode: 'url' }),
  number: (element, place) => renderNumberInput(fieldAt(element, place)),
  date: withStyles([momentStyle], (element, place) =>
    renderMomentInput(fieldAt(element, place), element, 'date'),
  ),
  time: withStyles([momentStyle], (element, place) =>
    renderMomentInput(fieldAt(element, place), element, 'time'),
  ),
  datetime: withStyles([momentStyle], (element, place) =>
    renderMomentInput(fieldAt(element, place), element, 'datetime-local'),
  ),
  dropdown: (element, place) => renderDropdown(fieldAt(element, place)),
  radio: (element, place) => renderRadios(fieldAt(element, place)),
  multiple_choice: (element, place) => renderCheckboxes(fieldAt(element, place)),
  yes_no: (element, place) => renderYesNo(fieldAt(element, place)),
  file_upload: (element, place) => renderUpload(fieldAt(element, place), element.attrs),
  rating: renderRating,
  scale: renderScale,
  ranking: renderRanking,
  picture_choice: renderPictureChoice,
  consent: renderConsent,
  hidden: renderHiddenInput,
  matrix: renderMatrix,
  calculation: renderCalculation,
  score: renderScore,
  signature: renderSignature,
  heading: renderHeading,
  paragraph: renderParagraph,
  divider: (element, place) => html`<hr${boxAttributes(element, place)}>`,
  image: renderImageElement,
  rich_text: renderRichTextElement,
  composite: (element, place) => renderGroup(element, place, renderElement),
};

/** Renders one element of a valid form, with its label, help, errors and kept answer. */
export function renderElement(element: Element, place: ElementContext): Html {
  // The script expects a box for each element.
  if (isInput(element) && isSkipped(element)) return html`<div class="field" hidden></div>`;
  // The table pairs each type with its own element; a lookup by a union type cannot express that.
  const draw = elementRenderers[element.type] as (element: Element, place: ElementContext) => Html;
  return draw(element, place);
}

/** Styles of options with quotas. */
const quotaStyle = `
.left { margin-inline-start: auto; color: var(--soft); font-size: .9375rem; text-align: end; font-variant-numeric: tabular-nums; }
.option:has(:disabled) { background: var(--tint); color: var(--soft); cursor: default; }
.option:has(:disabled):hover { border-color: var(--edge); }
`;

/** Styles of the search field and the list of a long dropdown. */
const searchStyle = `
.labelled:has(> .matches) { position: relative; }
.matches { position: absolute; z-index: 2; inset-inline: 0; max-block-size: 19rem; margin-block-start: var(--1); padding: var(--1); overflow-y: auto; list-style: none; background: var(--paper); border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 .5rem 1.5rem #0003; }
.matches li { display: flex; align-items: center; min-block-size: 2.75rem; padding: var(--2) .625rem; border-radius: calc(.7 * var(--round)); unicode-bidi: plaintext; cursor: pointer; }
.matches :is(li:hover, [aria-selected=true]) { background: var(--tint); }
.matches [aria-selected=true] { outline: 2px solid var(--accent); outline-offset: -2px; }
.matches .chosen { font-weight: 600; }
.matches [aria-disabled=true] { background: none; color: var(--soft); cursor: default; }
`;

const hasOptionQuotas = (element: Element): boolean =>
  [...inputOptionsById(element).values()].some(({ capacity }) => capacity !== undefined);

/** Returns the additional styles for the element types in a form. */
export const elementStylesOfForm = memoizeByObject((form: Form): string => {
  const elements = [...walkElements(form)].map(({ element }) => element);
  const types = styleOfTypes(elements.map(({ type }) => type));
  return [
    types,
    elements.some(hasOptionQuotas) && quotaStyle,
    elements.some((element) => isInput(element) && isSearchable(element)) && searchStyle,
  ]
    .filter(Boolean)
    .join('');
});

/** Returns the styles for all element types and options. */
export const allElementStyles = (): string =>
  styleOfTypes(Object.keys(elementRenderers) as ElementType[]) + quotaStyle + searchStyle;

/** Returns the styles of these element types, each once. */
function styleOfTypes(types: Iterable<ElementType>): string {
  return [...new Set([...types].flatMap((type) => elementRenderers[type].styles ?? []))].join('').trim();
}
