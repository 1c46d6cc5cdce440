import type { ElementType } from '#ast/elements.ts';
import { problemOf } from '#ast/answers/fill.ts';
import { autofillOf } from '#ast/autofill.ts';
import { textFormats } from '#ast/rules/text-formats.ts';
import { writeNumber } from '#ast/rules/written-numbers.ts';
import type { Element, InputElement } from '#ast/tree.ts';
import { fill } from '#ast/words.ts';
import { checkboxes, dropdown, radios, yesOrNo } from './choices.ts';
import { boxAttributes, controlAttributes, labelled } from './frame.ts';
import { group } from './groups.ts';
import { momentHints } from './hints.ts';
import { attributes, type Html, html } from '../html.ts';
import { richText } from '../rich-text.ts';
import { type Field, fieldAt, type HeldFile, pipedAt, type Place } from './place.ts';
import { sayFileTypes } from '../../words/say-file-types.ts';
import { sayToVisitor } from '../../words/say-problem.ts';
import { saySize } from '../../words/words.ts';

type Moment = Extract<InputElement, { type: 'date' | 'datetime' | 'time' }>;
type UploadAttributes = Extract<InputElement, { type: 'file_upload' }>['attrs'];
type Render<Type extends ElementType> = (element: Extract<Element, { type: Type }>, place: Place) => Html;

/** How every element type looks on the page: a new type is a line here. */
const renderers: { readonly [Type in ElementType]: Render<Type> } = {
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
  heading: (element, place) =>
    place.headingTag === 'h2'
      ? html`<h2${boxAttributes(element, place)}>${pipedAt(element.attrs.label, place)}</h2>`
      : html`<h3${boxAttributes(element, place)}>${pipedAt(element.attrs.label, place)}</h3>`,
  paragraph: (element, place) =>
    richText(element.attrs.label, boxAttributes(element, place, 'prose'), (part) => pipedAt(part, place)),
  divider: (element, place) => html`<hr${boxAttributes(element, place)}>`,
  composite: (element, place) => group(element, place, renderElement),
};

/** One element of a valid form, with its label, help, errors and kept answer. */
export function renderElement(element: Element, place: Place): Html {
  // The table pairs each type with its own element, which a lookup by a union cannot express.
  const render = renderers[element.type] as (element: Element, place: Place) => Html;
  return render(element, place);
}

const typedAsIs = { type: 'text', autocapitalize: 'none', spellcheck: 'false' } as const;

/** The answer as the text of a control: several where one is asked stand beside each other until one is left. */
function textOf({ value, place: { page } }: Field): string {
  if (typeof value === 'number') return writeNumber(value, page.numbers);
  if (Array.isArray(value)) return value.map((one: unknown) => String(one)).join(', ');
  return typeof value === 'string' ? value : '';
}

/** An `<input>` of one line. No `maxlength`: it would cut a pasted text silently, while the server says so. */
function textInput(field: Field, kind: Kind): Html {
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
    placeholder: field.element.attrs.placeholder,
    autocomplete: autofillAt(field),
  });
  return html`<input${control}>`;
}

/**
 * A number is a text, which is read as the page's language writes numbers: what a browser's own control for numbers
 * cannot read, it leaves out. Some keyboards for numbers lack a mark of the page's language: after an error all
 * characters are there.
 */
function numberInput(field: Field): Html {
  return textInput(field, { type: 'text', inputmode: field.errors.length > 0 ? 'text' : 'decimal' });
}

/**
 * The browser's own control for dates and times; a text when it holds what that control would not show. What the
 * control cannot read, the browser keeps from being sent (`form.ts`), and the style sheet shows the sentence for it.
 */
function momentInput(field: Field, element: Moment, type: string): Html {
  const { name, place } = field;
  const { today } = place.page;
  const text = textOf(field);
  if (text !== '' && !textFormats[element.type].accepts(text)) return textInput(field, { type: 'text' });
  const unread = sayToVisitor(problemOf(element, { rule: element.type }), place.page);
  const control = textControl(field, {
    type,
    ...momentHints(element, today),
    'aria-describedby': `${controlAttributes(field)['aria-describedby']} _unread-${name}`,
  });
  return labelled(
    field,
    html`<p class="unread" id="_unread-${name}">${unread}</p>
${control}`,
  );
}

function textarea(field: Field): Html {
  const control = attributes({
    ...controlAttributes(field),
    rows: 4,
    placeholder: field.element.attrs.placeholder,
    autocomplete: autofillAt(field),
  });
  // The parser drops one line break after the tag: this one, not the visitor's.
  return labelled(
    field,
    html`<textarea${control}>
${textOf(field)}</textarea>`,
  );
}

/** A file that is already here: its token comes back with the next post, and the box lets go of it. */
function heldFile({ name, place: { page } }: Field, { token, filename, size, content_type }: HeldFile): Html {
  const { words } = page;
  const facts = attributes({ 'data-filename': filename, 'data-size': size, 'data-type': content_type });
  return html`<li${facts}><span class="filename"><bdi>${filename}</bdi> <span class="size">${saySize(size, page.language)}</span></span>
<input type="hidden" name="_file[${name}]" value="${token}">
<label class="drop"><input type="checkbox" name="_drop" value="${token}"> ${words.remove}<span class="unseen"> ${filename}</span></label></li>`;
}

/** Files, with the limits said before one is chosen, and those kept from the last post. */
function upload(field: Field, attrs: UploadAttributes): Html {
  const { held, place } = field;
  const { language, limits, words } = place.page;
  const files = Math.min(attrs.max_files ?? limits.filesPerElement, limits.filesPerElement);
  const size = saySize(Math.min(attrs.max_file_size ?? limits.fileBytes, limits.fileBytes), language);
  const control = attributes({
    type: 'file',
    multiple: files > 1,
    // A phone offers its camera by itself where pictures are accepted, and still lets one choose from the album.
    accept: attrs.accept?.join(','),
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
<p class="zone" aria-hidden="true"><b>${files > 1 ? words.chooseFiles : words.chooseFile}</b> <span>${files > 1 ? words.dropFiles : words.dropFile}</span></p>`,
    [fill(files === 1 ? words.oneFile : words.someFiles, { limit: files, size }), ...types],
  );
}
