import { factOf } from '#ast/basics/fact-of.ts';
import type { ElementType } from '#ast/form/elements.ts';
import { type Element, type Form, optionsIn, walkElements } from '#ast/form/tree.ts';
import { type Html, html } from '../../markup/html.ts';
import { richText as markedText } from '../../markup/rich-text.ts';
import { calculation } from './calculation.ts';
import { checkboxes, dropdown, radios, yesOrNo } from './choices.ts';
import { consent } from './consent.ts';
import { boxAttributes } from './frame.ts';
import { group } from './groups.ts';
import { hidden } from './hidden.ts';
import { image } from './image.ts';
import { matrix } from './matrix.ts';
import { pictureChoice } from './picture-choice.ts';
import { fieldAt, type Place, pipedAt } from './place.ts';
import { ranking } from './ranking.ts';
import { rating } from './rating.ts';
import { richText } from './rich-text.ts';
import { scale } from './scale.ts';
import { signature } from './signature.ts';
import type { Draw } from './styled.ts';
import { momentInput, numberInput, textarea, textInput, typedAsIs } from './text-inputs.ts';
import { upload } from './upload.ts';

/** The renderer of every element type. */
const drawings: { readonly [Type in ElementType]: Draw<Type> } = {
  text: (element, place) => textInput(fieldAt(element, place), { type: 'text' }),
  textarea: (element, place) => textarea(fieldAt(element, place)),
  // Browsers must not validate these types: the server reports all problems together.
  email: (element, place) => textInput(fieldAt(element, place), { ...typedAsIs, inputmode: 'email' }),
  phone: (element, place) => textInput(fieldAt(element, place), { type: 'tel' }),
  url: (element, place) => textInput(fieldAt(element, place), { ...typedAsIs, inputmode: 'url' }),
  number: (element, place) => numberInput(fieldAt(element, place)),
  date: (element, place) => momentInput(fieldAt(element, place), element, 'date'),
  time: (element, place) => momentInput(fieldAt(element, place), element, 'time'),
  datetime: (element, place) => momentInput(fieldAt(element, place), element, 'datetime-local'),
  dropdown: (element, place) => dropdown(fieldAt(element, place)),
  radio: (element, place) => radios(fieldAt(element, place)),
  multiple_choice: (element, place) => checkboxes(fieldAt(element, place)),
  yes_no: (element, place) => yesOrNo(fieldAt(element, place)),
  file_upload: (element, place) => upload(fieldAt(element, place), element.attrs),
  rating,
  scale,
  ranking,
  picture_choice: pictureChoice,
  consent,
  hidden,
  matrix,
  calculation,
  signature,
  heading: (element, place) => {
    const text = element.attrs?.label ?? '';
    // Screen readers would announce an empty heading.
    if (text === '') return html``;
    return place.headingTag === 'h2'
      ? html`<h2${boxAttributes(element, place)}>${pipedAt(text, place)}</h2>`
      : html`<h3${boxAttributes(element, place)}>${pipedAt(text, place)}</h3>`;
  },
  paragraph: (element, place) =>
    markedText(element.attrs?.label ?? '', boxAttributes(element, place, 'prose'), (part) =>
      pipedAt(part, place),
    ),
  divider: (element, place) => html`<hr${boxAttributes(element, place)}>`,
  image,
  rich_text: richText,
  composite: (element, place) => group(element, place, renderElement),
};

/** Renders one element of a valid form, with its label, help, errors and kept answer. */
export function renderElement(element: Element, place: Place): Html {
  // The table pairs each type with its own element; a lookup by a union type cannot express that.
  const draw = drawings[element.type] as (element: Element, place: Place) => Html;
  return draw(element, place);
}

/** Styles of options with quotas. */
const placesStyle = `
.left { margin-inline-start: auto; color: var(--soft); font-size: .9375rem; text-align: end; font-variant-numeric: tabular-nums; }
.option:has(:disabled) { background: var(--tint); color: var(--soft); cursor: default; }
.option:has(:disabled):hover { border-color: var(--edge); }
`;

const countsPlaces = (element: Element): boolean =>
  [...optionsIn(element).values()].some(({ capacity }) => capacity !== undefined);

/** Returns the additional styles for the element types of a form. */
export const styleOf = factOf((form: Form): string => {
  const elements = [...walkElements(form)].map(({ element }) => element);
  const types = styleOfTypes(elements.map(({ type }) => type));
  return elements.some(countsPlaces) ? types + placesStyle : types;
});

/** Returns the styles for all element types and options. */
export const wholeStyle = (): string => styleOfTypes(Object.keys(drawings) as ElementType[]) + placesStyle;

/** Returns the styles of these element types, each once. */
function styleOfTypes(types: Iterable<ElementType>): string {
  return [...new Set([...types].flatMap((type) => drawings[type].styles ?? []))].join('').trim();
}
