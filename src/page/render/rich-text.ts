import { attributes, type Html, html, joined, url } from './html.ts';

/** `**bold**`, and `[text](https://…)` or `mailto:`: no other address is a link. Each part ends where the next begins. */
const marks = /\*\*([^*\n]+)\*\*|\[([^[\]\n]{1,500})\]\(((?:https:\/\/|mailto:)[^\s()<>]{1,2000})\)/g;

/** What begins an item of a list. */
const items = { ul: /^[-*] +/, ol: /^\d{1,3}[.)] +/ } as const;

/**
 * A text of the author's as they meant it: bold, links and lists from the marks that people know, and nothing else.
 * Everything is escaped: no text becomes markup of its own (docs/rules.md T6).
 * @param box attributes of the element around it: a paragraph, or where there is a list a `div`.
 * @param plain how what stands between the marks is written: answers that it shows are put in behind them.
 */
export function richText(text: string, box: Html = html``, plain: Plain = asIs): Html {
  const blocks = readBlocks(text);
  if (blocks.every(({ kind }) => kind === 'text')) return html`<p${box}>${inline(text, plain)}</p>`;
  const drawn = blocks.map(({ kind, lines }) => {
    if (kind === 'text') return html`<p>${inline(lines.join('\n'), plain)}</p>`;
    const entries = lines.map((line) => html`<li>${inline(line.replace(items[kind], ''), plain)}</li>`);
    return kind === 'ul' ? html`<ul>${entries}</ul>` : html`<ol>${entries}</ol>`;
  });
  return html`<div${box}>${drawn}</div>`;
}

type Plain = (text: string) => Html;

const asIs: Plain = (text) => html`${text}`;

type Block = { readonly kind: 'text' | keyof typeof items; readonly lines: string[] };

/** Lists, and the texts between them without the blank lines at their edges. */
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

/** Nothing is lost to a link: it opens beside the form, which may be half filled in or in the frame of another page. */
const link = (text: Html, address: string): Html =>
  html`<a${attributes({ href: url(address), target: '_blank', rel: 'noopener noreferrer' })}>${text}</a>`;

function inline(text: string, plain: Plain): Html {
  const parts: Html[] = [];
  let from = 0;
  for (const { 0: whole, 1: bold, 2: said, 3: address, index } of text.matchAll(marks)) {
    parts.push(
      html`${plain(text.slice(from, index))}${bold === undefined ? link(plain(said!), address!) : html`<b>${plain(bold)}</b>`}`,
    );
    from = index + whole.length;
  }
  return joined([...parts, plain(text.slice(from))]);
}
