import { own } from '#ast/json.ts';
import { limits } from '#ast/limits.ts';
import { lineOfHtml, textOfHtml } from '../html.ts';
import { tidy, words } from '../sketch.ts';
import type { Part } from '../source.ts';

/**
 * The text of a block. Who makes a form by the API sends `html`; what the API answers has pieces, each with what is said of it:
 * `[["Read "], ["this", [["tag", "a"], ["href", "https://…"]]]]`. Options have a plain `text`.
 * @param isLong it may have marks and lines.
 */
export function textOfBlock(block: Part, isLong = false): string | undefined {
  const payload = block.part('payload');
  // The same once more, without marks.
  const title = payload.part('title');
  title.text();
  const pieces = payload.part('safeHTMLSchema');
  const told = [payload.part('html'), pieces, title].find(({ isThere }) => isThere) ?? payload.part('text');
  const given = told === pieces ? pieces.parts().map(htmlOfPiece).join('') : undefined;
  const write = isLong ? textOfHtml : lineOfHtml;
  return words(told, isLong ? limits.richTextBytes : limits.labelBytes, (text) => tidy(write(given ?? text)));
}

/** Marks that a text here has. What else is said of a piece (`color`) nobody reads, so it is told. */
function htmlOfPiece(piece: Part): string {
  const [content, marks] = piece.parts();
  const inner = content?.parts() ?? [];
  const text =
    inner.length > 0 ? inner.map(htmlOfPiece).join('') : escaped(content?.word() ?? piece.text() ?? '');
  return (marks?.parts() ?? []).reduce((html, mark) => {
    const [name, value] = mark.parts();
    const wrap = own(styles, name?.text() ?? '')?.(value?.text() ?? '');
    return wrap === undefined ? html : `<${wrap}>${html}</${wrap.split(' ')[0]}>`;
  }, text);
}

/** The element that a mark is; nothing where it changes nothing. */
const styles: Readonly<Record<string, (value: string) => string | undefined>> = {
  tag: () => undefined,
  'font-weight': (value) => (value === 'bold' || Number(value) >= 600 ? 'b' : undefined),
  href: (value) => `a href="${escaped(value)}"`,
};

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`).replaceAll('\n', '<br>');
