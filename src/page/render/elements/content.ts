import { html, renderPicture } from '../../markup/html.ts';
import { renderFormattedText, renderRichText } from '../../markup/rich-text.ts';
import { type ElementRenderer, renderPipedText, withStyles } from './element-context.ts';
import { boxAttributes } from './frame.ts';

/** Renders a heading one level below the nearest heading. */
export const renderHeading: ElementRenderer<'heading'> = (element, place) => {
  const text = element.attrs?.label ?? '';
  // Screen readers would announce an empty heading.
  if (text === '') return html``;
  return place.headingTag === 'h2'
    ? html`<h2${boxAttributes(element, place)}>${renderPipedText(text, place)}</h2>`
    : html`<h3${boxAttributes(element, place)}>${renderPipedText(text, place)}</h3>`;
};

/** Renders an author's text of several sentences. */
export const renderParagraph: ElementRenderer<'paragraph'> = (element, place) =>
  renderRichText(element.attrs?.label ?? '', boxAttributes(element, place, 'prose'), (part) =>
    renderPipedText(part, place),
  );

const imageStyle = `
figure { margin: 0; }
figure img { display: block; max-inline-size: 100%; block-size: auto; border-radius: var(--round); }
figcaption { margin-block-start: var(--2); color: var(--soft); font-size: .9375rem; unicode-bidi: plaintext; text-align: left; }
[dir=rtl] figcaption { text-align: right; }
`;

/** An image of the workspace with its alternative text and a caption. */
export const renderImageElement = withStyles<'image'>([imageStyle], (element, place) => {
  const { image: id, alt, caption } = element.attrs;
  return html`<div${boxAttributes(element, place)}><figure>${renderPicture(place.page.pictureOf(id), alt)}${caption && html`<figcaption>${renderPipedText(caption, place)}</figcaption>`}</figure></div>`;
});

const richTextStyle = `
.rich > :is(h2, h3, h4):not(:first-child) { margin-block-start: var(--5); }
.rich > :is(p, ul, ol):not(:first-child) { margin-block-start: var(--3); }
.rich h4 { margin-block-end: 0; line-height: 1.3; unicode-bidi: plaintext; text-align: left; }
[dir=rtl] .rich h4 { text-align: right; }
`;

/** An author's text with headings, paragraphs, lists and links. */
export const renderRichTextElement = withStyles<'rich_text'>([richTextStyle], (element, place) =>
  renderFormattedText(
    element.attrs.text,
    place.headingTag,
    boxAttributes(element, place, 'prose', 'rich'),
    (part) => renderPipedText(part, place),
  ),
);
