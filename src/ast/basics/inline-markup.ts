/**
 * Returns a pattern for `***both***`, `**bold**`, `*italic*`, and links: `[text](https://…)` or `mailto:`. Marks
 * cannot be nested otherwise.
 */
const markupWith = (target: string): RegExp =>
  new RegExp(
    String.raw`\*\*\*(?<both>[^*\n]+)\*\*\*|\*\*(?<bold>[^*\n]+)\*\*|\[(?<label>[^[\]\n]{1,500})\]\((?<href>${target})\)|(?<![\w*])\*(?<italic>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])`,
    'g',
  );

const webTarget = String.raw`(?:https:\/\/|mailto:)[^\s()<>]{1,2000}`;
const inlineMarkup = markupWith(webTarget);

/** In emails, a placeholder can be the target of a link: `[Change your answers]({{edit_url}})`. */
export const emailMarkup = markupWith(String.raw`${webTarget}|\{\{ ?\w+_url ?\}\}`);

/** Bold, italic, or both. */
type InlineMark = 'b' | 'i' | 'bi';

/** A part of a text: marked, a link with its address, or plain. */
export type InlinePart = { readonly text: string; readonly mark?: InlineMark; readonly href?: string };

/** Splits an author's text into plain and marked parts. */
export function splitInlineMarkup(text: string, pattern = inlineMarkup): InlinePart[] {
  const parts: InlinePart[] = [];
  let from = 0;
  for (const { 0: whole, groups = {}, index } of text.matchAll(pattern)) {
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
