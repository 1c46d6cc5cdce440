import type { ElementType } from '#ast/elements.ts';
import type { Element, InputElement } from '#ast/tree.ts';
import { fill } from '#ast/words.ts';
import { autofillOf } from './autofill.ts';
import { checkboxes, dropdown, radios, yesOrNo } from './choices.ts';
import { boxAttributes, controlAttributes, labelled } from './frame.ts';
import { group } from './groups.ts';
import { hintsOf } from './hints.ts';
import { attributes, type Html, html } from '../html.ts';
import { type Field, fieldAt, type HeldFile, type Place } from './place.ts';
import { sayFileTypes } from '../../words/say-file-types.ts';
import { saySize } from '../../words/words.ts';

type UploadAttributes = Extract<InputElement, { type: 'file_upload' }>['attrs'];
type Render<Type extends ElementType> = (element: Extract<Element, { type: Type }>, place: Place) => Html;

/** How every element type looks on the page: a new type is a line here. */
const renderers: { readonly [Type in ElementType]: Render<Type> } = {
  text: (element, place) => textInput(fieldAt(element, place), { type: 'text' }),
  textarea: (element, place) => textarea(fieldAt(element, place)),
  email: (element, place) => textInput(fieldAt(element, place), { type: 'email' }, 'email'),
  phone: (element, place) => textInput(fieldAt(element, place), { type: 'tel' }, 'tel'),
  url: (element, place) => textInput(fieldAt(element, place), { type: 'url' }, 'url'),
  // The browser turns the visitor's decimal comma into the point that the server reads.
  number: (element, place) => textInput(fieldAt(element, place), { type: 'number', inputmode: 'decimal' }),
  date: (element, place) => textInput(fieldAt(element, place), { type: 'date' }),
  time: (element, place) => textInput(fieldAt(element, place), { type: 'time' }),
  datetime: (element, place) => textInput(fieldAt(element, place), { type: 'datetime-local' }),
  dropdown: (element, place) => dropdown(fieldAt(element, place)),
  radio: (element, place) => radios(fieldAt(element, place)),
  multiple_choice: (element, place) => checkboxes(fieldAt(element, place)),
  yes_no: (element, place) => yesOrNo(fieldAt(element, place)),
  file_upload: (element, place) => upload(fieldAt(element, place), element.attrs),
  heading: (element, place) =>
    place.headingTag === 'h2'
      ? html`<h2${boxAttributes(element, place)}>${element.attrs.label}</h2>`
      : html`<h3${boxAttributes(element, place)}>${element.attrs.label}</h3>`,
  paragraph: (element, place) => html`<p${boxAttributes(element, place, 'prose')}>${element.attrs.label}</p>`,
  divider: (element, place) => html`<hr${boxAttributes(element, place)}>`,
  composite: (element, place) => group(element, place, renderElement),
};

/** One element of a valid form, with its label, help, errors and kept answer. */
export function renderElement(element: Element, place: Place): Html {
  // The table pairs each type with its own element, which a lookup by a union cannot express.
  const render = renderers[element.type] as (element: Element, place: Place) => Html;
  return render(element, place);
}

/** The answer as the text of a control; what is not text or a number leaves the control empty. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** An `<input>` of one line. No `maxlength`: it would cut a pasted text silently, while the server says so. */
function textInput(field: Field, kind: Record<string, string>, autofill?: string): Html {
  const control = attributes({
    ...kind,
    ...hintsOf(field.element, field.place.page.today),
    ...controlAttributes(field),
    value: textOf(field.value),
    placeholder: field.element.attrs.placeholder,
    autocomplete: autofillOf(field, autofill),
  });
  return labelled(field, html`<input${control}>`);
}

function textarea(field: Field): Html {
  const control = attributes({
    ...controlAttributes(field),
    rows: 4,
    placeholder: field.element.attrs.placeholder,
    autocomplete: autofillOf(field),
  });
  // The parser drops one line break after the tag: this one, not the visitor's.
  return labelled(
    field,
    html`<textarea${control}>
${textOf(field.value)}</textarea>`,
  );
}

/** A file that is already here: its token comes back with the next post, and the box lets go of it. */
function heldFile({ name, place: { page } }: Field, { token, filename, size, content_type }: HeldFile): Html {
  const { words } = page;
  const facts = attributes({ 'data-filename': filename, 'data-size': size, 'data-type': content_type });
  return html`<li${facts}><span class="filename"><bdi>${filename}</bdi> <span class="size">${saySize(size, words)}</span></span>
<input type="hidden" name="_file[${name}]" value="${token}">
<label class="drop"><input type="checkbox" name="_drop" value="${token}"> ${words.remove}<span class="unseen"> ${filename}</span></label></li>`;
}

/** Files, with the limits said before one is chosen, and those kept from the last post. */
function upload(field: Field, attrs: UploadAttributes): Html {
  const { held, place } = field;
  const { limits, words } = place.page;
  const files = Math.min(attrs.max_files ?? limits.filesPerElement, limits.filesPerElement);
  const size = saySize(Math.min(attrs.max_file_size ?? limits.fileBytes, limits.fileBytes), words);
  const control = attributes({
    type: 'file',
    multiple: files > 1,
    ...hintsOf(field.element, place.page.today),
    ...controlAttributes(field),
  });
  const list = html`<ul class="held">
${held.map((file) => heldFile(field, file))}
</ul>`;
  const types = attrs.accept?.length
    ? [fill(words.fileTypes, { types: sayFileTypes(attrs.accept, words) })]
    : [];
  return labelled(
    field,
    html`${held.length > 0 && list}
<input${control}>
<p class="drop_hint">${words.dropFiles}</p>`,
    [fill(files === 1 ? words.oneFile : words.someFiles, { limit: files, size }), ...types],
  );
}
