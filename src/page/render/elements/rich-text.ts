import { renderFormattedText } from '../../markup/rich-text.ts';
import { renderPipedText, withStyles } from './element-context.ts';
import { boxAttributes } from './frame.ts';

const style = `
.rich > :is(h2, h3, h4):not(:first-child) { margin-block-start: var(--5); }
.rich > :is(p, ul, ol):not(:first-child) { margin-block-start: var(--3); }
.rich h4 { margin-block-end: 0; line-height: 1.3; unicode-bidi: plaintext; text-align: left; }
[dir=rtl] .rich h4 { text-align: right; }
`;

/** An author's text with headings, paragraphs, lists and links. */
export const renderRichTextElement = withStyles<'rich_text'>([style], (element, place) =>
  renderFormattedText(
    element.attrs.text,
    place.headingTag,
    boxAttributes(element, place, 'prose', 'rich'),
    (part) => renderPipedText(part, place),
  ),
);
