import { formatFileSize } from '#ast/basics/format-size.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import type { FileRules } from '#ast/rules/check-files.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { formatFileTypes } from '../../words/format-problem.ts';
import { type Field, fieldAt, type KeptFile, renderPipedText, withStyles } from './element-context.ts';
import { controlAttributes, renderLabelledControl } from './frame.ts';

/** Renders a kept file. Its token is posted again, and the checkbox removes the file. */
function renderKeptFile(
  { name, place: { page } }: Field,
  { token, filename, size, content_type }: KeptFile,
): Html {
  const { words } = page;
  const facts = attributes({ 'data-filename': filename, 'data-size': size, 'data-type': content_type });
  return html`<li${facts}><span class="filename"><bdi>${filename}</bdi> <span class="size">${formatFileSize(size, page.language)}</span></span>
<input type="hidden" name="_file[${name}]" value="${token}">
<label class="drop"><input type="checkbox" name="_drop" value="${token}"> ${words.remove}<span class="unseen"> ${filename}</span></label></li>`;
}

/** Renders the files of a field that were kept from the last post. */
const renderKeptFiles = (field: Field): Html | false =>
  field.files.length > 0 &&
  html`<ul class="held">
${field.files.map((file) => renderKeptFile(field, file))}
</ul>`;

/** Renders a file input, its limits, and the files kept from the last post. */
export function renderUpload(field: Field, attrs: FileRules): Html {
  const { place } = field;
  const { language, limits, words } = place.page;
  const files = Math.min(attrs.max_files ?? limits.filesPerElement, limits.filesPerElement);
  const size = formatFileSize(Math.min(attrs.max_file_size ?? limits.fileBytes, limits.fileBytes), language);
  const control = attributes({
    type: 'file',
    multiple: files > 1,
    accept: attrs.accept?.join(','),
    ...controlAttributes(field),
  });
  const types = attrs.accept?.length
    ? [fillTemplate(words.fileTypes, { types: formatFileTypes(attrs.accept, words, language) })]
    : [];
  const acceptsPhotos = attrs.accept?.some((one) => /^(image\/(\*|jpeg)|\.jpe?g)$/i.test(one));
  return renderLabelledControl(
    field,
    html`${renderKeptFiles(field)}
<input${control}>
<p class="zone" aria-hidden="true"><b>${files > 1 ? words.chooseFiles : words.chooseFile}</b> <span>${files > 1 ? words.dropFiles : words.dropFile}</span></p>
${acceptsPhotos && html`<button type="button" class="photo">${words.takePhoto}<span class="unseen"> ${renderPipedText(field.element.attrs.label, place)}</span></button>`}`,
    [
      [fillTemplate(files === 1 ? words.oneFile : words.someFiles, { limit: files, size }), ...types].join(
        ' ',
      ),
    ],
  );
}

/** The pad stays white in dark mode, because the drawing is sent as it is shown. */
const signatureStyle = `
.pad { display: none; margin-block-start: var(--2); }
@media (scripting: enabled) { .pad { display: block; } }
.pad, .pad ~ input { max-inline-size: 32rem; }
.pad:not(:has(canvas))::before, .pad canvas {
  content: ""; display: block; inline-size: 100%; aspect-ratio: 5 / 2; border: 1px solid var(--edge); border-radius: var(--round); touch-action: none; cursor: crosshair;
  background: linear-gradient(#aeb9b4, #aeb9b4) 50% 76% / 84% 1px no-repeat #fff; forced-color-adjust: none;
}
/* The minimum height reserves space for the buttons, which the script adds. */
.pad p { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--2); min-block-size: 2.75rem; margin-block-end: calc(-1 * var(--2)); }
.pad label { margin-inline-end: auto; }
.pad:not(.drawn) button { visibility: hidden; }
.pad.drawn + .held > li:not(:has(.error)) { display: none; }
.invalid > .pad canvas { border-color: var(--bad); }
`;

/** A text field for a name, which counts as the signature. The script adds a pad to draw one. */
export const renderSignature = withStyles<'signature'>([signatureStyle], (element, place) => {
  const field = fieldAt(element, place);
  const { signDraw, signType, signName, signUndo, clear } = place.page.words;
  const pad = attributes({ class: 'pad', 'data-help': signDraw, 'data-undo': signUndo, 'data-clear': clear });
  const control = attributes({
    type: 'text',
    ...controlAttributes(field),
    value: typeof field.value === 'string' ? field.value : '',
    autocomplete: place.row ? undefined : 'name',
    spellcheck: 'false',
  });
  return renderLabelledControl(
    field,
    html`<div${pad}><p><label${attributes({ for: field.name })}>${signName}</label></p></div>${renderKeptFiles(field)}<input${control}>`,
    [signType],
  );
});
