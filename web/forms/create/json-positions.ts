/** A range in a text: character offsets from its start, and the line number to show. */
export type TextRange = { start: number; end: number; line: number };

/**
 * Finds the nodes of a form in its JSON text. Paths are as in structure problems: `[]` for the root, then an
 * index in `children` for each level. The text must be valid JSON, and can also be `{"structure": {…}}`.
 */
export function findJsonNodes(text: string): Map<string, TextRange> {
  const places = new Map<string, TextRange>();
  let at = 0;

  const skipSpace = (): void => {
    while (/\s/.test(text[at] ?? '')) at += 1;
  };
  const readString = (): string => {
    const start = at;
    at += 1;
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    return JSON.parse(text.slice(start, at)) as string;
  };
  /** `path` is undefined outside the tree. */
  const readValue = (path: readonly number[] | undefined): void => {
    skipSpace();
    if (text[at] === '{') readObject(path);
    else if (text[at] === '[') readList(() => undefined);
    else if (text[at] === '"') readString();
    else while (at < text.length && !/[\s,\]}]/.test(text[at]!)) at += 1;
  };
  const readObject = (path: readonly number[] | undefined): void => {
    const start = at;
    at += 1;
    for (skipSpace(); text[at] !== '}'; skipSpace()) {
      if (text[at] === ',') {
        at += 1;
        continue;
      }
      const name = readString();
      skipSpace();
      at += 1;
      skipSpace();
      if (path && name === 'children' && text[at] === '[') readList((index) => [...path, index]);
      else readValue(path?.length === 0 && name === 'structure' ? [] : undefined);
    }
    at += 1;
    const key = path?.join('.');
    // A root inside "structure" is found first, and then the outer object is not recorded as a node.
    if (key !== undefined && !places.has(key)) places.set(key, { start, end: at, line: lineAt(text, start) });
  };
  const readList = (pathOf: (index: number) => readonly number[] | undefined): void => {
    at += 1;
    let index = 0;
    for (skipSpace(); text[at] !== ']'; skipSpace())
      if (text[at] === ',') {
        at += 1;
        index += 1;
      } else readValue(pathOf(index));
    at += 1;
  };

  readValue([]);
  return places;
}

export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** Formats a path: "Step 2, element 3" for `[1, 2]`. */
export function formatPath(path: readonly number[]): string {
  const [step, ...elements] = path.map((index) => index + 1);
  if (step === undefined) return 'Form';
  return [
    `Step ${step}`,
    ...elements.map((index, depth) => `${depth === 0 ? 'element' : 'child'} ${index}`),
  ].join(', ');
}

/**
 * Returns the offset at which a text is no longer valid JSON, parsed from the engine's message. Safari
 * reports no offset, so the end of the text is returned.
 */
export function offsetOfJsonError(text: string, { message }: SyntaxError): number {
  const position = /position (\d+)/.exec(message);
  if (position) return Number(position[1]);
  const lineAndColumn = /line (\d+) column (\d+)/.exec(message);
  if (!lineAndColumn) return text.length;
  const before = text.split('\n').slice(0, Number(lineAndColumn[1]) - 1);
  return before.reduce((sum, line) => sum + line.length + 1, 0) + Number(lineAndColumn[2]) - 1;
}
