/** Matches `**bold**`, `*italic*`, and links: `[text](https://…)` or `mailto:`. Marks cannot be nested. */
const inlineMarkup =
  /\*\*([^*\n]+)\*\*|\[([^[\]\n]{1,500})\]\(((?:https:\/\/|mailto:)[^\s()<>]{1,2000})\)|(?<![\w*])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])/g;

/** A part of a text: bold, italic, a link with its address, or plain. */
export type InlinePart = { readonly text: string; readonly mark?: 'b' | 'i'; readonly href?: string };

/** Splits an author's text into plain and marked parts. */
export function splitInlineMarkup(text: string): InlinePart[] {
  const parts: InlinePart[] = [];
  let from = 0;
  for (const { 0: whole, 1: bold, 2: said, 3: href, 4: italic, index } of text.matchAll(inlineMarkup)) {
    parts.push({ text: text.slice(from, index) });
    if (href !== undefined) parts.push({ text: said!, href });
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
