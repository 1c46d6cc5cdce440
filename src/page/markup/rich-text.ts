import { marks } from '#ast/basics/marks.ts';
import { attributes, type Html, html, joined, url } from './html.ts';

/** The same with `*italic*`. */
const moreMarks = new RegExp(`${marks.source}|\\*([^\\s*](?:[^*\\n]*[^\\s*])?)\\*`, 'g');

/** What begins an item of a list. */
const items = { ul: /^[-*] +/, ol: /^\d{1,3}[.)] +/ } as const;

/** What begins a heading: its marks, of which fewer stand above more. */
const heading = /^(#{1,3}) +/;

/**
 * A text of the author's as they meant it: bold, links and lists from the marks that people know, and nothing else.
 * Everything is escaped: no text becomes markup of its own (docs/rules.md T6).
 * @param box attributes of the element around it: a paragraph, or where there is a list a `div`.
 * @param plain how what stands between the marks is written: answers that it shows are put in behind them.
 */
export function richText(text: string, box: Html = html``, plain: Plain = asIs): Html {
  const blocks = readBlocks(text);
  if (blocks.every(({ kind }) => kind === 'text')) return html`<p${box}>${inline(text, plain, marks)}</p>`;
  return html`<div${box}>${blocks.map((block) => draw(block, plain, marks))}</div>`;
}

/**
 * A text that is more than a few lines: paragraphs between blank lines, headings (`# `, `## `) and italic words besides.
 * @param top the tag of its highest heading: no level is left out below the one that it stands under.
 */
export function formattedText(text: string, top: 'h2' | 'h3', box: Html, plain: Plain): Html {
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
    if (level === undefined) return readBlocks(part).map((block) => draw(block, plain, moreMarks));
    const said = inline(part.replace(heading, ''), plain, moreMarks);
    if (level > Math.min(...levels)) return [top === 'h2' ? html`<h3>${said}</h3>` : html`<h4>${said}</h4>`];
    return [top === 'h2' ? html`<h2>${said}</h2>` : html`<h3>${said}</h3>`];
  });
  return html`<div${box}>${drawn}</div>`;
}

function draw({ kind, lines }: Block, plain: Plain, known: RegExp): Html {
  if (kind === 'text') return html`<p>${inline(lines.join('\n'), plain, known)}</p>`;
  const entries = lines.map((line) => html`<li>${inline(line.replace(items[kind], ''), plain, known)}</li>`);
  return kind === 'ul' ? html`<ul>${entries}</ul>` : html`<ol>${entries}</ol>`;
}

/** Bold and links of a text that stands where only words can: in a label. Nothing in it is an answer. */
export const markedLine = (text: string): Html => inline(text, asIs, marks);

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

function inline(text: string, plain: Plain, known: RegExp): Html {
  const parts: Html[] = [];
  let from = 0;
  for (const match of text.matchAll(known)) {
    parts.push(plain(text.slice(from, match.index)), marked(match, plain));
    from = match.index + match[0].length;
  }
  return joined([...parts, plain(text.slice(from))]);
}

function marked([, bold, said, address, italic]: RegExpExecArray, plain: Plain): Html {
  if (bold !== undefined) return html`<b>${plain(bold)}</b>`;
  return italic === undefined ? link(plain(said!), address!) : html`<i>${plain(italic)}</i>`;
}
