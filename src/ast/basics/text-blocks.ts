/** Markers of list items. */
const items = { ul: /^[-*] +/, ol: /^\d{1,3}[.)] +/ } as const;

/** Markers of a heading: more `#` means a lower level. */
const heading = /^(#{1,3}) +/;

/** A part of an author's text: a list, a heading, or a paragraph. Its lines have no markers. */
export type TextBlock =
  | { readonly kind: 'text' | keyof typeof items; readonly lines: string[] }
  | { readonly kind: 'heading'; readonly level: number; readonly lines: readonly [string] };

/** Splits a text into lists and the text between them, and removes blank lines at their edges. */
export function readLists(text: string): Exclude<TextBlock, { kind: 'heading' }>[] {
  const blocks: Exclude<TextBlock, { kind: 'heading' }>[] = [];
  for (const line of text.split(/\r?\n/)) {
    const kind = items.ul.test(line) ? 'ul' : items.ol.test(line) ? 'ol' : 'text';
    const content = kind === 'text' ? line : line.replace(items[kind], '');
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(content);
    else if (kind !== 'text' || line.trim() !== '') blocks.push({ kind, lines: [content] });
  }
  for (const { lines } of blocks.filter(({ kind }) => kind === 'text'))
    while (lines.at(-1)?.trim() === '') lines.pop();
  return blocks;
}

/** Splits a longer text: also into paragraphs between blank lines, and headings (`# `, `## `). */
export function readTextBlocks(text: string): TextBlock[] {
  return text
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
    .filter((part) => part !== '')
    .flatMap((part): TextBlock[] => {
      const level = heading.exec(part)?.[1]?.length;
      if (level === undefined) return readLists(part);
      return [{ kind: 'heading', level, lines: [part.replace(heading, '')] }];
    });
}
