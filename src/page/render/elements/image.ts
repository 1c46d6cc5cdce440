import { html, renderPicture } from '../../markup/html.ts';
import { renderPipedText, withStyles } from './element-context.ts';
import { boxAttributes } from './frame.ts';

const style = `
figure { margin: 0; }
figure img { display: block; max-inline-size: 100%; block-size: auto; border-radius: var(--round); }
figcaption { margin-block-start: var(--2); color: var(--soft); font-size: .9375rem; unicode-bidi: plaintext; text-align: left; }
[dir=rtl] figcaption { text-align: right; }
`;

/** An image of the workspace with its alternative text and a caption. */
export const renderImageElement = withStyles<'image'>([style], (element, place) => {
  const { image: id, alt, caption } = element.attrs;
  return html`<div${boxAttributes(element, place)}><figure>${renderPicture(place.page.pictureOf(id), alt)}${caption && html`<figcaption>${renderPipedText(caption, place)}</figcaption>`}</figure></div>`;
});
