/**
 * Matches `***both***`, `**bold**`, `*italic*`, and links: `[text](https://…)` or `mailto:`. Marks cannot be
 * nested otherwise.
 */
const inlineMarkup =
  /\*\*\*(?<both>[^*\n]+)\*\*\*|\*\*(?<bold>[^*\n]+)\*\*|\[(?<label>[^[\]\n]{1,500})\]\((?<href>(?:https:\/\/|mailto:)[^\s()<>]{1,2000})\)|(?<![\w*])\*(?<italic>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])/g;

/** Bold, italic, or both. */
type InlineMark = 'b' | 'i' | 'bi';

/** A part of a text: marked, a link with its address, or plain. */
type InlinePart = { readonly text: string; readonly mark?: InlineMark; readonly href?: string };

/** Splits an author's text into plain and marked parts. */
export function splitInlineMarkup(text: string): InlinePart[] {
  const parts: InlinePart[] = [];
  let from = 0;
  for (const { 0: whole, groups = {}, index } of text.matchAll(inlineMarkup)) {
    const { both, bold, italic, label, href } = groups;
    parts.push({ text: text.slice(from, index) });
    if (href !== undefined) parts.push({ text: label!, href });
    else if (both !== undefined) parts.push({ text: both, mark: 'bi' });
    else parts.push(bold === undefined ? { text: italic!, mark: 'i' } : { text: bold, mark: 'b' });
    from = index + whole.length;
  }
  return [...parts, { text: text.slice(from) }].filter(({ text: part }) => part !== '');
}

/** Returns an author's text as plain text. A link becomes its text, with the URL in brackets. */
export const stripInlineMarkup = (text: string): string =>
  splitInlineMarkup(text)
    .map(({ text: part, href }) => (href === undefined ? part : `${part} (${href.replace('mailto:', '')})`))
    .join('');
