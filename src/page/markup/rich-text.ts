import { splitInlineMarkup } from '#ast/basics/inline-markup.ts';
import { attributes, type Html, html, joinHtml, safeUrl } from './html.ts';

/** Markers of list items. */
const items = { ul: /^[-*] +/, ol: /^\d{1,3}[.)] +/ } as const;

/** Markers of a heading: more `#` means a lower level. */
const heading = /^(#{1,3}) +/;

/**
 * Renders an author's text with bold, italics, links and lists from Markdown-like marks. Everything else is escaped,
 * so no text becomes markup (docs/rules.md T6).
 * @param box attributes of the element around it: a paragraph, or a `div` if there is a list.
 * @param plain renders the text between the markup, and fills in the answers that it shows.
 */
export function renderRichText(text: string, box: Html = html``, plain: Plain = asIs): Html {
  const blocks = readBlocks(text);
  if (blocks.every(({ kind }) => kind === 'text')) return html`<p${box}>${inline(text, plain)}</p>`;
  return html`<div${box}>${blocks.map((block) => draw(block, plain))}</div>`;
}

/**
 * Renders a longer text: also with paragraphs between blank lines and headings (`# `, `## `).
 * @param top the tag of its highest heading, so that no level is skipped.
 */
export function renderFormattedText(text: string, top: 'h2' | 'h3', box: Html, plain: Plain): Html {
  const parts = text
    .split(/\r?\n/)
    .reduce<string[][]>(
      (all, line) => {
        const isApart = line.trim() === '' || heading.test(line) || heading.test(all.at(-1)![0] ?? '');
        if (isApart) all.push([line]);
        else all.at(-1)!.push(line);
        return all;
      },
      [[]],
    )
    .map((lines) => lines.join('\n').trim())
    .filter((part) => part !== '');
  const levels = parts.flatMap((part) => heading.exec(part)?.[1]?.length ?? []);
  const drawn = parts.flatMap((part) => {
    const level = heading.exec(part)?.[1]?.length;
    if (level === undefined) return readBlocks(part).map((block) => draw(block, plain));
    const title = inline(part.replace(heading, ''), plain);
    if (level > Math.min(...levels))
      return [top === 'h2' ? html`<h3>${title}</h3>` : html`<h4>${title}</h4>`];
    return [top === 'h2' ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`];
  });
  return html`<div${box}>${drawn}</div>`;
}

function draw({ kind, lines }: Block, plain: Plain): Html {
  if (kind === 'text') return html`<p>${inline(lines.join('\n'), plain)}</p>`;
  const entries = lines.map((line) => html`<li>${inline(line.replace(items[kind], ''), plain)}</li>`);
  return kind === 'ul' ? html`<ul>${entries}</ul>` : html`<ol>${entries}</ol>`;
}

/** Renders bold, italics and links of a single line, such as a label. It shows no answers. */
export const renderMarkedLine = (text: string): Html => inline(text, asIs);

type Plain = (text: string) => Html;

const asIs: Plain = (text) => html`${text}`;

type Block = { readonly kind: 'text' | keyof typeof items; readonly lines: string[] };

/** Splits a text into lists and the text between them, and removes blank lines at their edges. */
function readBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  for (const line of text.split(/\r?\n/)) {
    const kind = items.ul.test(line) ? 'ul' : items.ol.test(line) ? 'ol' : 'text';
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else if (kind !== 'text' || line.trim() !== '') blocks.push({ kind, lines: [line] });
  }
  for (const { lines } of blocks) while (lines.at(-1)?.trim() === '') lines.pop();
  return blocks;
}

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
