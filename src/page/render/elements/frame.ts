import { answerKindOf, columnSpanOf, type Element, type InputElement, isRequired } from '#ast/form/tree.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { renderRichText } from '../../markup/rich-text.ts';
import { fillPlural, formatCharactersLeft } from '../../words/words.ts';
import { type ElementContext, type Field, renderPipedText } from './element-context.ts';

/**
 * Returns the attributes of an element's box: its classes, including its column span, and `hidden` if a
 * condition hides it. Hidden controls still post their values. The script finds the box by `data-path`.
 */
export function boxAttributes(
  element: Element,
  { page, row }: ElementContext,
  ...extra: readonly string[]
): Html {
  const span = columnSpanOf(element);
  return attributes({
    class: ['field', ...(span > 1 ? [`span_${span}`] : []), ...extra].join(' '),
    hidden: !page.shown.isShown(element, row),
    'data-path': page.conditional.get(element),
  });
}

function boxOf({ element, place, errors }: Field, ...extra: readonly string[]): Html {
  return boxAttributes(element, place, ...extra, ...(errors.length > 0 ? ['invalid'] : []));
}

/** Returns the HTML id of the error box. No element id contains `~`, so ids cannot collide. */
export function errorId(name: string): string {
  return `error~${name}`;
}

function helpId(name: string): string {
  return `help~${name}`;
}

/**
 * Renders the error box. It is always in the page so that a script can announce errors in it (docs/rules.md
 * P3).
 */
export function errorBox(name: string, errors: readonly string[]): Html {
  return html`<div id="${errorId(name)}" class="error">${errors.map((error) => html`<p>${error}</p>`)}</div>`;
}

/**
 * Returns the attributes that every control has: its names, the ids of its help and errors, its state and
 * focus.
 */
export function controlAttributes(field: Field): Record<string, string | boolean | undefined> {
  const { name, hasFocus } = field;
  return {
    id: name,
    name,
    'aria-describedby': descriptionOf(field),
    'aria-invalid': ariaInvalidOf(field),
    autofocus: hasFocus,
  };
}

export function ariaInvalidOf({ errors }: Field): 'true' | undefined {
  return errors.length > 0 ? 'true' : undefined;
}

function descriptionOf({ name, element }: Field): string {
  const ids = [hasHelp(element) && helpId(name), errorId(name), limitOf(element) && countId(name)];
  return ids.filter(Boolean).join(' ');
}

const countId = (name: string): string => `count~${name}`;

/** Returns the maximum number of characters, if the form sets one. */
function limitOf(input: InputElement): number | undefined {
  return answerKindOf(input) === 'text' && 'max_length' in input.attrs ? input.attrs.max_length : undefined;
}

/** Renders the number of characters left. The script updates it and announces it to screen readers. */
function counter({ element, name, value, place: { page } }: Field): Html | undefined {
  const limit = limitOf(element);
  if (limit === undefined) return undefined;
  const { language, words } = page;
  const text =
    typeof value === 'string' && value !== ''
      ? formatCharactersLeft(value, limit, words, language)
      : fillPlural(words.countLimit, language, { limit });
  return html`<p${attributes({ id: countId(name), class: 'count', 'data-limit': limit })}>${text}</p>`;
}

function hasHelp(element: InputElement): boolean {
  return answerKindOf(element) === 'files' || Boolean(element.attrs.help_text);
}

/** Renders the label. Required is marked in words, not by a color or an asterisk (docs/rules.md P4). */
function caption({ element, place }: Field): Html {
  const { page, row } = place;
  const required = page.shown.isRequired(element, row);
  // The mark is also in the page if the question has `require_when`, so that the script can show it.
  const canBe = required || isRequired(element) || element.attrs.require_when !== undefined;
  const mark = html` <span${attributes({ class: 'mark', hidden: !required })}>${page.words.required}</span>`;
  return html`${renderPipedText(element.attrs.label, place)}${canBe && mark}`;
}

/** Renders help and errors before the control: the keyboard of a phone covers the content below it. */
function notes(field: Field, own: readonly string[] = []): Html {
  const { element, name, errors } = field;
  const { help_text: text } = element.attrs;
  const help = html`<div id="${helpId(name)}" class="help">${text && renderRichText(text, undefined, (part) => renderPipedText(part, field.place))}${own.map((each) => html`<p>${each}</p>`)}</div>`;
  return html`${hasHelp(element) && help}${errorBox(name, errors)}`;
}

/** Renders one control with its label. `own` are the page's own help texts. */
export function renderLabelledControl(field: Field, control: Html, own?: readonly string[]): Html {
  return html`<div${boxOf(field, 'labelled')}>
<label for="${field.name}">${caption(field)}</label>
${notes(field, own)}
${control}
${counter(field)}
</div>`;
}

/**
 * Renders several controls that answer one question. A radio group can be marked as invalid; a group of
 * checkboxes cannot.
 */
export function renderControlGroup(field: Field, type: 'radio' | 'checkbox', controls: Html): Html {
  const isRadioGroup = type === 'radio';
  const state = attributes({
    role: isRadioGroup && 'radiogroup',
    'aria-describedby': descriptionOf(field),
    'aria-invalid': isRadioGroup && ariaInvalidOf(field),
  });
  return html`<fieldset${boxOf(field)}${state}>
<legend>${caption(field)}</legend>
${notes(field)}
${controls}
</fieldset>`;
}
