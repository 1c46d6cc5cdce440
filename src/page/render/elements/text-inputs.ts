import { problemOf } from '#ast/answers/fill.ts';
import { autofillOf } from '#ast/form/autofill.ts';
import { type InputElement, placeholderOf } from '#ast/form/tree.ts';
import { textFormats } from '#ast/rules/text-formats.ts';
import { writeNumber } from '#ast/rules/written-numbers.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { sayToVisitor } from '../../words/say-problem.ts';
import { controlAttributes, labelled } from './frame.ts';
import { momentHints } from './hints.ts';
import type { Field } from './place.ts';

type Moment = Extract<InputElement, { type: 'date' | 'datetime' | 'time' }>;

export const typedAsIs = { type: 'text', autocapitalize: 'none', spellcheck: 'false' } as const;

/** The answer as the text of a control: several where one is asked stand beside each other until one is left. */
function textOf({ value, place: { page } }: Field): string {
  if (typeof value === 'number') return writeNumber(value, page.numbers);
  if (Array.isArray(value)) return value.map((one: unknown) => String(one)).join(', ');
  return typeof value === 'string' ? value : '';
}

/** An `<input>` of one line. No `maxlength`: it would cut a pasted text silently, while the server says so. */
export function textInput(field: Field, kind: Kind): Html {
  return labelled(field, textControl(field, kind));
}

type Kind = Parameters<typeof attributes>[0];

/** Rows have no autofill: they are about several people, and a browser would repeat the same one. */
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
 * A number is a text, which is read as the page's language writes numbers: what a browser's own control for numbers
 * cannot read, it leaves out. Some keyboards for numbers lack a mark of the page's language: after an error all
 * characters are there.
 */
export function numberInput(field: Field): Html {
  return textInput(field, { type: 'text', inputmode: field.errors.length > 0 ? 'text' : 'decimal' });
}

/**
 * The browser's own control for dates and times; a text when it holds what that control would not show. What the
 * control cannot read, the browser keeps from being sent (`form.ts`), and the style sheet shows the sentence for it.
 */
export function momentInput(field: Field, element: Moment, type: string): Html {
  const { name, place } = field;
  const { today } = place.page;
  const text = textOf(field);
  if (text !== '' && !textFormats[element.type].accepts(text)) return textInput(field, { type: 'text' });
  const unread = sayToVisitor(problemOf(element, { rule: element.type }), place.page);
  const control = textControl(field, {
    type,
    ...momentHints(element, today),
    'aria-describedby': `${controlAttributes(field)['aria-describedby']} unread~${name}`,
  });
  return labelled(
    field,
    html`<p class="unread" id="unread~${name}">${unread}</p>
${control}`,
  );
}

export function textarea(field: Field): Html {
  const control = attributes({
    ...controlAttributes(field),
    rows: 4,
    placeholder: placeholderOf(field.element),
    autocomplete: autofillAt(field),
  });
  // The parser drops one line break after the tag: this one, not the visitor's.
  return labelled(
    field,
    html`<textarea${control}>
${textOf(field)}</textarea>`,
  );
}
