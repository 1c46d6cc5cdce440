import { getProperty } from '#ast/basics/json.ts';

/** Common HTML entities. */
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** HTML formatting that texts of a form support. */
const marks: readonly (readonly [mark: RegExp, text: string])[] = [
  [/<\/?(?:b|strong)(?:\s[^<>]*)?>/gi, '**'],
  [/<br[^<>]*>/gi, '\n'],
  [/<li[^<>]*>/gi, '\n- '],
  [/<h[1-3][^<>]*>/gi, '\n\n## '],
  [/<\/(?:p|div|h[1-6]|ul|ol)>/gi, '\n\n'],
];

/** Converts HTML to a text with bold words, links, lists and headings. */
export function textOfHtml(html: string): string {
  if (!/[<&]/.test(html)) return html;
  const linked = html.replace(/<a\s([^<>]*)>([^<>]*)<\/a>/gi, (_whole, attributes: string, text: string) => {
    const [, address] = /href="((?:https?:|mailto:)[^"\s()]*)"/i.exec(attributes) ?? [];
    return address === undefined ? text : `[${text}](${address})`;
  });
  const text = marks.reduce((at, [mark, to]) => at.replace(mark, to), linked).replace(/<[^<>]*>/g, '');
  return text
    .replace(
      /&(?:#(\d{1,6})|([a-z]{2,6}));/gi,
      (whole, code: string | undefined, name: string | undefined) =>
        code === undefined
          ? (getProperty(entities, name!.toLowerCase()) ?? whole)
          : characterOf(Number(code)),
    )
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Converts HTML to one line without formatting. */
export const lineOfHtml = (html: string): string =>
  textOfHtml(
    html.replace(/<\/?(?:b|strong)(?:\s[^<>]*)?>/gi, '').replace(/<\/?(?:li|h[1-6])(?:\s[^<>]*)?>/gi, ' '),
  ).replace(/\s+/g, ' ');

const characterOf = (code: number): string =>
  code > 31 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : '';
