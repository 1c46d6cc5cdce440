import { formatFileSize } from '#ast/basics/format-size.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import type { FileRules } from '#ast/rules/check-files.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { formatFileTypes } from '../../words/format-problem.ts';
import { type Field, type KeptFile, renderPipedText } from './element-context.ts';
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
export const renderKeptFiles = (field: Field): Html | false =>
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
