import { getProperty, isRecord } from '#ast/basics/json.ts';
import { optionsById, otherChoice, otherControlName } from '#ast/basics/options.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import {
  type InputElement,
  inputAllowsOther,
  optionsLayoutOf,
  optionsOf,
  placeholderOf,
} from '#ast/form/tree.ts';
import { attributes, type Html, html, renderPicture } from '../../markup/html.ts';
import { renderMarkedLine } from '../../markup/rich-text.ts';
import { fillPlural } from '../../words/words.ts';
import { type Field, fieldAt, fillPlainText, withStyles } from './element-context.ts';
import {
  ariaInvalidOf,
  controlAttributes,
  errorId,
  renderControlGroup,
  renderLabelledControl,
} from './frame.ts';

type Choice = {
  readonly value: string;
  readonly label: string | Html;
  readonly isChosen: boolean;
  /** How many more visitors can choose this option; undefined without a quota. */
  readonly left?: number | undefined;
  /** Whether visitors can choose the option if it is full. */
  readonly canWait?: boolean | undefined;
  /**
   * Whether the option's condition is true; undefined without a condition. Every option is in the page, so
   * that the script can show it.
   */
  readonly isOffered?: boolean | undefined;
  /** The id of the option's picture. */
  readonly image?: string | undefined;
};

/** Renders all choices in their layout. The first available one has the field's id. */
export function renderChoices(
  field: Field,
  type: 'radio' | 'checkbox',
  list: readonly Choice[],
  { after, layout = optionsLayoutOf(field.element) }: { after?: Html; layout?: string } = {},
): Html {
  const { element, place } = field;
  // Links to the field lead to the first available choice.
  const first = list.findIndex((choice) => !isFull(choice) && choice.isOffered !== false);
  const controls = list.map((choice, index) => {
    const { value, label, isChosen } = choice;
    const control = attributes({
      type,
      id: index === Math.max(0, first) && field.name,
      name: field.name,
      value,
      checked: isChosen,
      ...offerAttributes(choice),
      'aria-invalid': type === 'checkbox' && ariaInvalidOf(field),
      autofocus: index === Math.max(0, first) && field.hasFocus,
    });
    const row = attributes({ class: 'option', hidden: choice.isOffered === false });
    // The label covers the whole row.
    return html`<label${row}><input${control}><span>${label}</span>${renderQuotaLeft(choice, place.page)}</label>`;
  });
  return renderControlGroup(
    field,
    type,
    html`<div class="options${layout !== 'stack' && ` options_${layout}`}">
${controls}${after}
${type === 'radio' && !place.page.shown.isRequired(element, place.row) && noAnswer(field)}
</div>`,
  );
}

/**
 * Renders the choice that clears an optional answer, shown while an option is chosen. With a script, a second
 * click clears it (web/page/clear-choice.ts).
 */
function noAnswer({ name, place }: Field): Html {
  const control = attributes({ type: 'radio', name, value: '' });
  return html`<noscript><label class="option none"><input${control}><span>${place.page.words.noAnswer}</span></label></noscript>`;
}

/**
 * Whether the quota of an option is used up, and it has no waiting list. Visitors who already chose the option
 * keep it.
 */
const isFull = ({ left, isChosen, canWait }: Choice): boolean => left === 0 && !isChosen && !canWait;

/**
 * Disables options that are not offered. `data-offer` is for the script; it is `full` if the quota is used
 * up.
 */
const offerAttributes = (choice: Choice) => ({
  disabled: isFull(choice) || choice.isOffered === false,
  'data-offer': choice.isOffered === undefined ? false : isFull(choice) ? 'full' : '',
});

function formatQuotaLeft(
  { left, canWait }: Choice,
  { words, language }: Field['place']['page'],
): string | undefined {
  if (left === undefined) return undefined;
  if (left === 0) return canWait ? words.waitPlace : words.noPlaceLeft;
  return fillPlural(words.placesLeft, language, { count: left });
}

function renderQuotaLeft(choice: Choice, page: Field['place']['page']): Html | undefined {
  const words = formatQuotaLeft(choice, page);
  return words === undefined ? undefined : html` <span class="left">${words}</span>`;
}

/** Lists the options of a question and marks the chosen ones. */
function listChoices({ element, place }: Field, isChosen: (option: string) => boolean): Choice[] {
  const { places, shown, hasWaitingList } = place.page;
  const leftOf = (id: string): number | undefined => places?.get(element.attrs.id)?.get(id);
  return optionsOf(element).map(({ id, label, capacity, image, show_when: when }) => {
    const isOffered = when && shown.holds(when, place.row);
    return {
      value: id,
      label,
      image,
      isOffered,
      isChosen: isOffered !== false && isChosen(id),
      // Nothing can be submitted from the builder's canvas, so it shows the full quota.
      left: places ? leftOf(id) : capacity,
      canWait: hasWaitingList,
    };
  });
}

/** Returns the texts that the visitor entered: the values that are not options. */
function otherAnswers(element: InputElement, values: readonly unknown[]): string[] {
  const options = optionsById(element.attrs);
  return values.filter(
    (value): value is string =>
      typeof value === 'string' && value !== '' && value !== otherChoice && !options.has(value),
  );
}

/** Renders "Other" and its text field. The option stays chosen while its text is still missing. */
function otherOf(field: Field, values: readonly unknown[]): { choice: Choice; text: Html } {
  const [own] = otherAnswers(field.element, values);
  const label = field.place.page.words.other;
  const isChosen = own !== undefined || values.includes(otherChoice);
  return { choice: { value: otherChoice, label, isChosen }, text: otherText(field, own) };
}

/**
 * Renders the text field of "Other", which the style sheet shows while that option is chosen. `parseRawAnswers`
 * joins the two.
 */
function otherText({ element, name, place }: Field, value: string | undefined): Html {
  const control = attributes({
    type: 'text',
    class: 'other',
    id: `other~${name}`,
    name: otherControlName(name),
    value: value ?? '',
    'aria-label': fillTemplate(place.page.words.otherAnswer, {
      label: fillPlainText(element.attrs.label, place),
    }),
    'aria-describedby': errorId(name),
  });
  return html`
<input${control}>`;
}

/** Renders a single choice: `radio`. */
export function renderRadios(field: Field): Html {
  const { element, value } = field;
  const list = listChoices(field, (option) => option === value);
  if (!inputAllowsOther(element)) return renderChoices(field, 'radio', list);
  const other = otherOf(field, [value]);
  return renderChoices(field, 'radio', [...list, other.choice], { after: other.text });
}

/** Renders a multiple choice: `multiple_choice`. The text of "Other" counts as one more choice. */
export function renderCheckboxes(field: Field): Html {
  const { element } = field;
  const values: readonly unknown[] = Array.isArray(field.value) ? field.value : [];
  const list = listChoices(field, (option) => values.includes(option));
  if (!inputAllowsOther(element)) return renderChoices(field, 'checkbox', list);
  const other = otherOf(field, values);
  return renderChoices(field, 'checkbox', [...list, other.choice], { after: other.text });
}

/**
 * Renders two radio buttons, because one checkbox could not tell "no" from "not answered". `parseRawAnswers` reads
 * the values.
 */
export function renderYesNo(field: Field): Html {
  const { words } = field.place.page;
  const list = [
    { value: 'yes', label: words.yes, isChosen: field.value === true },
    { value: 'no', label: words.no, isChosen: field.value === false },
  ];
  return renderChoices(field, 'radio', list, { layout: optionsLayoutOf(field.element, 'grid_2') });
}

/** With more entries than this, a dropdown gets a search field (web/page/searchable-select.ts). */
const mostUnsearched = 12;

export const isSearchable = (element: InputElement): boolean =>
  element.type === 'dropdown' && element.attrs.options.length > mostUnsearched;

/**
 * Renders a single choice from a list: `dropdown`. The first entry means no answer, so that no option is
 * preselected.
 */
export function renderDropdown(field: Field): Html {
  const { element, value, place } = field;
  const { words } = place.page;
  const list = listChoices(field, (option) => option === value);
  const other = inputAllowsOther(element) && otherOf(field, [value]);
  const entries = (other ? [...list, other.choice] : list).map((choice) => {
    const state = attributes({
      value: choice.value,
      selected: choice.isChosen,
      hidden: choice.isOffered === false,
      ...offerAttributes(choice),
    });
    const left = formatQuotaLeft(choice, place.page);
    return html`<option${state}>${choice.label}${left !== undefined && ` (${left})`}</option>`;
  });
  const control = attributes({
    ...controlAttributes(field),
    'data-search': isSearchable(element) && words.noMatch,
  });
  return renderLabelledControl(
    field,
    html`<select${control}>
<option value="">${placeholderOf(element) || words.choose}</option>
${entries}
</select>${other && other.text}`,
  );
}

/** The control is in the corner of the picture; the whole box is the label. */
const pictureStyle = `
.pictures > .option { position: relative; flex-flow: column; align-items: stretch; gap: var(--2); padding: var(--2); }
.pictures > .option > input { position: absolute; inset-block-start: var(--4); inset-inline-start: var(--4); box-shadow: 0 0 0 3px var(--paper); }
.pictures > .option > span:has(picture) { display: flex; flex-flow: column; gap: var(--2); }
.pictures picture { display: block; }
.pictures img { display: block; inline-size: 100%; block-size: auto; aspect-ratio: 4 / 3; object-fit: cover; border-radius: calc(.7 * var(--round)); background: var(--tint); }
.pictures > .option:not(:has(picture)) > span { padding-inline-start: 2.5rem; }
.pictures > .option:not(:has(picture)) > span:first-of-type { padding-block: var(--2) var(--1); }
.pictures > .option:has(:disabled) img { opacity: .5; }
.pictures > .option:has(:checked) { box-shadow: 0 0 0 2px var(--accent); border-color: var(--accent); }
.pictures > .option > .left { margin-inline-start: 0; text-align: start; }
.options_row.pictures > .option { inline-size: 8.5rem; }
`;

/** Radio buttons or checkboxes as labeled pictures. The labels also describe the pictures. */
export const renderPictureChoice = withStyles<'picture_choice'>([pictureStyle], (element, place) => {
  const field = fieldAt(element, place);
  const values: readonly unknown[] = Array.isArray(field.value) ? field.value : [field.value];
  const list = listChoices(field, (option) => values.includes(option)).map(({ image, label, ...choice }) => ({
    ...choice,
    label:
      image === undefined
        ? label
        : html`${renderPicture(place.page.pictureOf(image), '', '12rem')}<b>${label}</b>`,
  }));
  const layout = `${optionsLayoutOf(element, 'grid_3')} pictures`;
  return renderChoices(field, element.attrs.multiple ? 'checkbox' : 'radio', list, { layout });
});

const consentStyle = `
.options_consent > .option { align-items: flex-start; }
.options_consent > .option > span { white-space: pre-line; }
`;

/** One checkbox beside the full consent text. */
export const renderConsent = withStyles<'consent'>([consentStyle], (element, place) => {
  const field = fieldAt(element, place);
  // The value as posted or stored. In a row, the stored time identifies which consent it is.
  const given = inputRules.consent.tidy(field.value);
  const isChosen = given === true || isRecord(given);
  const at = isRecord(given) ? getProperty(given, 'at') : undefined;
  const list = [
    {
      value: place.row && typeof at === 'string' ? at : 'yes',
      label: renderMarkedLine(element.attrs.statement),
      isChosen,
    },
  ];
  return renderChoices(field, 'checkbox', list, { layout: 'consent' });
});
