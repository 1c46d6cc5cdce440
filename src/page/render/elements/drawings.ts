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

/** How every element type looks on the page: a new type is a line here. */
const drawings: { readonly [Type in ElementType]: Draw<Type> } = {
  text: (element, place) => textInput(fieldAt(element, place), { type: 'text' }),
  textarea: (element, place) => textarea(fieldAt(element, place)),
  // Types that browsers check are left to what is read by us: the server says all that is wrong at once.
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
    // An empty heading is one that a screen reader announces and nobody can read.
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

/** One element of a valid form, with its label, help, errors and kept answer. */
export function renderElement(element: Element, place: Place): Html {
  // The table pairs each type with its own element, which a lookup by a union cannot express.
  const draw = drawings[element.type] as (element: Element, place: Place) => Html;
  return draw(element, place);
}

/** Of options whose places are counted. */
const placesStyle = `
.left { margin-inline-start: auto; color: var(--soft); font-size: .9375rem; text-align: end; font-variant-numeric: tabular-nums; }
.option:has(:disabled) { background: var(--tint); color: var(--soft); cursor: default; }
.option:has(:disabled):hover { border-color: var(--edge); }
`;

const countsPlaces = (element: Element): boolean =>
  [...optionsIn(element).values()].some(({ capacity }) => capacity !== undefined);

/** What the style sheet of a form's pages has besides for the types of its elements. */
export const styleOf = factOf((form: Form): string => {
  const elements = [...walkElements(form)].map(({ element }) => element);
  const types = styleOfTypes(elements.map(({ type }) => type));
  return elements.some(countsPlaces) ? types + placesStyle : types;
});

/** What it has for every type, and whatever may be in it. */
export const wholeStyle = (): string => styleOfTypes(Object.keys(drawings) as ElementType[]) + placesStyle;

/** The rules of these types, each once. */
function styleOfTypes(types: Iterable<ElementType>): string {
  return [...new Set([...types].flatMap((type) => drawings[type].styles ?? []))].join('').trim();
}
