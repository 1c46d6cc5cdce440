import { columnSpanOf, type Element, type InputElement, isRequired, kindOf } from '#ast/form/tree.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { richText } from '../../markup/rich-text.ts';
import { fillCounted, sayLeft } from '../../words/words.ts';
import { type Field, type Place, pipedAt } from './place.ts';

/**
 * Attributes of an element's box: its classes, with the columns that it spans among them; `hidden` when a condition
 * says so: its controls still post what they hold. The script finds it by `data-path`.
 */
export function boxAttributes(element: Element, { page, row }: Place, ...extra: readonly string[]): Html {
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

/** The HTML id of the place for errors. No element id has a `~`, so none can be the same. */
export function errorId(name: string): string {
  return `error~${name}`;
}

function helpId(name: string): string {
  return `help~${name}`;
}

/** Always on the page, also without errors, so that a script can announce into it (docs/rules.md P3). */
export function errorBox(name: string, errors: readonly string[]): Html {
  return html`<div id="${errorId(name)}" class="error">${errors.map((error) => html`<p>${error}</p>`)}</div>`;
}

/** What every control carries: its names, where its help and errors stand, its state, the focus. */
export function controlAttributes(field: Field): Record<string, string | boolean | undefined> {
  const { name, hasFocus } = field;
  return {
    id: name,
    name,
    'aria-describedby': descriptionOf(field),
    'aria-invalid': invalidOf(field),
    autofocus: hasFocus,
  };
}

/** The value of `aria-invalid`. */
export function invalidOf({ errors }: Field): 'true' | undefined {
  return errors.length > 0 ? 'true' : undefined;
}

function descriptionOf({ name, element }: Field): string {
  const ids = [hasHelp(element) && helpId(name), errorId(name), limitOf(element) && countId(name)];
  return ids.filter(Boolean).join(' ');
}

const countId = (name: string): string => `count~${name}`;

/** How many characters an answer may have, where the form says so. */
function limitOf(input: InputElement): number | undefined {
  return kindOf(input) === 'text' && 'max_length' in input.attrs ? input.attrs.max_length : undefined;
}

/** What may still be written, below the control: the script counts, and says so to whoever does not see it. */
function counter({ element, name, value, place: { page } }: Field): Html | undefined {
  const limit = limitOf(element);
  if (limit === undefined) return undefined;
  const { language, words } = page;
  const said =
    typeof value === 'string' && value !== ''
      ? sayLeft(value, limit, words, language)
      : fillCounted(words.countLimit, language, { limit });
  return html`<p${attributes({ id: countId(name), class: 'count', 'data-limit': limit })}>${said}</p>`;
}

function hasHelp(element: InputElement): boolean {
  return kindOf(element) === 'files' || Boolean(element.attrs.help_text);
}

/** The label's text; that an answer is required is said in words, not by a colour or a star (docs/rules.md P4). */
function caption({ element, place }: Field): Html {
  const { page, row } = place;
  const required = page.shown.isRequired(element, row);
  // The script shows the mark of a question that a condition requires.
  const canBe = required || isRequired(element) || element.attrs.require_when !== undefined;
  const mark = html` <span${attributes({ class: 'mark', hidden: !required })}>${page.words.required}</span>`;
  return html`${pipedAt(element.attrs.label, place)}${canBe && mark}`;
}

/** Help and errors stand before the control: a keyboard on a phone covers what is below it. */
function notes(field: Field, own: readonly string[] = []): Html {
  const { element, name, errors } = field;
  const { help_text: text } = element.attrs;
  const help = html`<div id="${helpId(name)}" class="help">${text && richText(text, undefined, (part) => pipedAt(part, field.place))}${own.map((each) => html`<p>${each}</p>`)}</div>`;
  return html`${hasHelp(element) && help}${errorBox(name, errors)}`;
}

/** One control with its label. `own` are help texts of the page's own. */
export function labelled(field: Field, control: Html, own?: readonly string[]): Html {
  return html`<div${boxOf(field, 'labelled')}>
<label for="${field.name}">${caption(field)}</label>
${notes(field, own)}
${control}
${counter(field)}
</div>`;
}

/** Several controls that answer one question. A radio group can be invalid itself; a set of check boxes cannot. */
export function grouped(field: Field, type: 'radio' | 'checkbox', controls: Html): Html {
  const isRadioGroup = type === 'radio';
  const state = attributes({
    role: isRadioGroup && 'radiogroup',
    'aria-describedby': descriptionOf(field),
    'aria-invalid': isRadioGroup && invalidOf(field),
  });
  return html`<fieldset${boxOf(field)}${state}>
<legend>${caption(field)}</legend>
${notes(field)}
${controls}
</fieldset>`;
}
