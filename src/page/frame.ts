import { columnSpanOf, type Element, type InputElement, isRequired } from '#ast/tree.ts';
import { attributes, type Html, html } from './html.ts';
import type { Field } from './place.ts';
import { words } from './words.ts';

/** Classes of an element's box; its columns are among them when it spans several. */
export function boxClass(element: Element, extra?: string): string {
  const span = columnSpanOf(element);
  return ['field', span > 1 && `span_${span}`, extra].filter(Boolean).join(' ');
}

function boxOf({ element, errors }: Field): string {
  return boxClass(element, errors.length > 0 ? 'invalid' : undefined);
}

/** Always on the page, also without errors, so that a script can announce into it later (`features` P3). */
export function errorBox(name: string, errors: readonly string[]): Html {
  return html`<div id="${name}-error" class="error">${errors.map((error) => html`<p>${error}</p>`)}</div>`;
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
  return hasHelp(element) ? `${name}-help ${name}-error` : `${name}-error`;
}

function hasHelp(element: InputElement): boolean {
  return element.type === 'file_upload' || Boolean(element.attrs.help_text);
}

/** The label's text; that an answer is required is said in words, not by a colour or a star (`features` P4). */
function caption({ element }: Field): Html {
  const mark = isRequired(element) && html` <span class="mark">${words.required}</span>`;
  return html`${element.attrs.label}${mark}`;
}

/** Help and errors stand before the control: a keyboard on a phone covers what is below it. */
function notes(field: Field, note?: string): Html {
  const { element, name, errors } = field;
  const texts = [element.attrs.help_text, note].filter(Boolean);
  const help = html`<div id="${name}-help" class="help">${texts.map((text) => html`<p>${text}</p>`)}</div>`;
  return html`${hasHelp(element) && help}${errorBox(name, errors)}`;
}

/** One control with its label. `note` is a help text of the page's own. */
export function labelled(field: Field, control: Html, note?: string): Html {
  return html`<div class="${boxOf(field)} labelled">
<label for="${field.name}">${caption(field)}</label>
${notes(field, note)}
${control}
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
  return html`<fieldset class="${boxOf(field)}"${state}>
<legend>${caption(field)}</legend>
${notes(field)}
${controls}
</fieldset>`;
}
