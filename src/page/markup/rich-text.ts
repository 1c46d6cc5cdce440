import { splitInlineMarkup } from '#ast/basics/inline-markup.ts';
import { readLists, readTextBlocks } from '#ast/basics/text-blocks.ts';
import { attributes, type Html, html, joinHtml, safeUrl } from './html.ts';

/**
 * Renders an author's text with bold, italics, links and lists from Markdown-like marks. Everything else is escaped,
 * so no text becomes markup (docs/rules.md T6).
 * @param box attributes of the element around it: a paragraph, or a `div` if there is a list.
 * @param plain renders the text between the markup, and fills in the answers that it shows.
 */
export function renderRichText(text: string, box: Html = html``, plain: Plain = asIs): Html {
  const blocks = readLists(text);
  if (blocks.every(({ kind }) => kind === 'text')) return html`<p${box}>${inline(text, plain)}</p>`;
  return html`<div${box}>${blocks.map((block) => draw(block, plain))}</div>`;
}

/**
 * Renders a longer text: also with paragraphs between blank lines and headings (`# `, `## `).
 * @param top the tag of its highest heading, so that no level is skipped.
 */
export function renderFormattedText(text: string, top: 'h2' | 'h3', box: Html, plain: Plain): Html {
  const blocks = readTextBlocks(text);
  const levels = blocks.flatMap((block) => (block.kind === 'heading' ? block.level : []));
  const drawn = blocks.map((block) => {
    if (block.kind !== 'heading') return draw(block, plain);
    const title = inline(block.lines[0], plain);
    if (block.level > Math.min(...levels))
      return top === 'h2' ? html`<h3>${title}</h3>` : html`<h4>${title}</h4>`;
    return top === 'h2' ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`;
  });
  return html`<div${box}>${drawn}</div>`;
}

function draw({ kind, lines }: ReturnType<typeof readLists>[number], plain: Plain): Html {
  if (kind === 'text') return html`<p>${inline(lines.join('\n'), plain)}</p>`;
  const entries = lines.map((line) => html`<li>${inline(line, plain)}</li>`);
  return kind === 'ul' ? html`<ul>${entries}</ul>` : html`<ol>${entries}</ol>`;
}

/** Renders bold, italics and links of a single line, such as a label. It shows no answers. */
export const renderMarkedLine = (text: string): Html => inline(text, asIs);

type Plain = (text: string) => Html;

const asIs: Plain = (text) => html`${text}`;

/** Renders a link that opens in a new tab, because the form may be half filled in or framed. */
const link = (text: Html, address: string): Html =>
  html`<a${attributes({ href: safeUrl(address), target: '_blank', rel: 'noopener noreferrer' })}>${text}</a>`;

const inline = (text: string, plain: Plain): Html =>
  joinHtml(
    splitInlineMarkup(text).map(({ text: part, mark, href }) => {
      if (href !== undefined) return link(plain(part), href);
      if (mark === undefined) return plain(part);
      const content = mark === 'b' ? plain(part) : html`<i>${plain(part)}</i>`;
      return mark === 'i' ? content : html`<b>${content}</b>`;
    }),
  );
