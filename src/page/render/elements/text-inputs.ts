import { toAnswerProblem } from '#ast/answers/fill.ts';
import { autofillOf } from '#ast/form/autofill.ts';
import { type InputElement, placeholderOf } from '#ast/form/tree.ts';
import { toComparableMoments } from '#ast/rules/moments.ts';
import { textFormats } from '#ast/rules/text-formats.ts';
import { formatEditableNumber, numberMarksOf } from '#ast/rules/written-numbers.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { formatProblemForVisitor } from '../../words/format-problem.ts';
import { type ElementRenderer, type Field, fieldAt } from './element-context.ts';
import { controlAttributes, renderLabelledControl } from './frame.ts';

/**
 * The parts of a date keep their order in texts from right to left. `.unset` and `.format`: an empty control
 * in WebKit (web/page/moment-formats.ts).
 */
export const momentStyle = `
[dir=rtl] .unread + input { direction: ltr; text-align: right; }
.unset:not(:focus)::-webkit-datetime-edit { opacity: 0; }
.labelled:has(> .format) { position: relative; }
.format { display: none; position: absolute; inset-inline: .875rem; inset-block-end: 0; block-size: var(--control); align-items: center; color: var(--soft); pointer-events: none; }
.unset:not(:focus) + .format { display: flex; }
[dir=rtl] .format { justify-content: end; }
`;

type Moment = Extract<InputElement, { type: 'date' | 'datetime' | 'time' }>;

export const uncorrectedInputAttributes = {
  type: 'text',
  autocapitalize: 'none',
  spellcheck: 'false',
} as const;

/**
 * Returns the answer as the text of a control. If several values were posted for one control, they are
 * joined, so that the visitor can choose which to keep.
 */
function textOf({ value, place: { page } }: Field): string {
  if (typeof value === 'number') return formatEditableNumber(value, numberMarksOf(page.numberLocale));
  if (Array.isArray(value)) return value.map((one: unknown) => String(one)).join(', ');
  return typeof value === 'string' ? value : '';
}

/**
 * Renders an `<input>`. It has no `maxlength`, which would silently cut off a pasted text; the server reports
 * the error instead.
 */
export function renderTextInput(field: Field, kind: Kind): Html {
  return renderLabelledControl(field, textControl(field, kind));
}

/** Renders an address and, if the page asks for it, the code that verifies the address. */
export function renderEmailInput(field: Field): Html {
  const { name, place } = field;
  const { asks, words } = place.page;
  const control = textControl(field, { ...uncorrectedInputAttributes, inputmode: 'email' });
  const id = `_code[${name}]`;
  const input = attributes({
    type: 'text',
    id,
    name: id,
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    'aria-describedby': controlAttributes(field)['aria-describedby'],
  });
  const code = html`<div class="labelled">
<label for="${id}">${words.code}</label>
<input${input}>
</div>
<button type="submit" name="_again" value="${name}" class="back">${words.codeAgain}</button>`;
  return renderLabelledControl(field, html`${control}${asks?.has(name) && code}`);
}

type Kind = Parameters<typeof attributes>[0];

/** Rows have no autofill: they are often about several people, and autofill would repeat one person. */
const autofillAt = ({ element, place }: Field): string | undefined =>
  place.row ? undefined : autofillOf(element);

function textControl(field: Field, kind: Kind): Html {
  const control = attributes({
    ...controlAttributes(field),
    ...kind,
    value: textOf(field),
    placeholder: placeholderOf(field.element),
    autocomplete: autofillAt(field),
  });
  return html`<input${control}>`;
}

/**
 * Renders a number as a text input, parsed in the page's language: a number input would drop what the browser
 * cannot parse. Some numeric keyboards lack the decimal separator of the page's language, so the full
 * keyboard is shown after an error.
 */
export function renderNumberInput(field: Field): Html {
  return renderTextInput(field, { type: 'text', inputmode: field.errors.length > 0 ? 'text' : 'decimal' });
}

/**
 * Renders the browser's control for dates and times, or a text input for a value that the control would not
 * show. The browser does not submit a value that it cannot parse (`form.ts`); the style sheet then shows our
 * message.
 */
export function renderMomentInput(field: Field, element: Moment, type: string): Html {
  const { name, place } = field;
  const { today } = place.page;
  const text = textOf(field);
  if (text !== '' && !textFormats[element.type].accepts(text))
    return renderTextInput(field, { type: 'text' });
  const unread = formatProblemForVisitor(toAnswerProblem(element, { rule: element.type }), place.page);
  const control = textControl(field, {
    type,
    ...momentLimitAttributes(element, today),
    'aria-describedby': `${controlAttributes(field)['aria-describedby']} unread~${name}`,
  });
  return renderLabelledControl(
    field,
    html`<p class="unread" id="unread~${name}">${unread}</p>
${control}`,
  );
}

export function renderTextarea(field: Field): Html {
  const control = attributes({
    ...controlAttributes(field),
    rows: 4,
    placeholder: placeholderOf(field.element),
    autocomplete: autofillAt(field),
  });
  // The HTML parser drops the first line break after the tag. This one keeps the visitor's line break.
  return renderLabelledControl(
    field,
    html`<textarea${control}>
${textOf(field)}</textarea>`,
  );
}

/**
 * Returns the earliest and latest day of a calendar as data attributes. The page's script applies them;
 * otherwise browsers would show their own messages for other days. `today` is YYYY-MM-DD.
 */
export function momentLimitAttributes(
  { type, attrs }: Moment,
  today: string,
): Readonly<Record<string, string | undefined>> {
  const limit = (moment: string | undefined, timeOfDay: string): string | undefined => {
    if (moment === undefined) return undefined;
    const [, aligned] = toComparableMoments('', moment, today);
    return type === 'datetime' && aligned.length === 10 ? `${aligned}T${timeOfDay}` : aligned;
  };
  return { 'data-min': limit(attrs.min, '00:00'), 'data-max': limit(attrs.max, '23:59') };
}

/** Renders a value from the URL, which each post repeats. It has no id, because no link leads to it. */
export const renderHiddenInput: ElementRenderer<'hidden'> = (element, place) => {
  const { name, value } = fieldAt(element, place);
  return html`<input${attributes({ type: 'hidden', name, value: typeof value === 'string' ? value : '' })}>`;
};
