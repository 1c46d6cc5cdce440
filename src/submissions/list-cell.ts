/*
 * A cell that holds several values: `Tea; "Cake; two pieces"` is a list, and `Name: Ada; Meals: "Tea; Cake"` the pairs of
 * a row, with the rows of a repeatable composite on lines of their own. A value is quoted only where it must be.
 */

const needsQuotes = /[;\r\n]|^["\s]|\s$|^$/;

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Writes a value so that a list of values can be read again. */
const formatValue = (text: string): string => (needsQuotes.test(text) ? quote(text) : text);

export const formatList = (values: readonly string[]): string => values.map(formatValue).join('; ');

/** Writes the pairs of one row. */
export const formatPairs = (pairs: readonly (readonly [label: string, value: string])[]): string =>
  pairs
    .map(([label, value]) => `${/:/.test(label) ? quote(label) : formatValue(label)}: ${formatValue(value)}`)
    .join('; ');

/** A value and where the mark after it is; undefined where a quote is not closed, or text follows one. */
type Token = { readonly text: string; readonly end: number };

function readToken(source: string, start: number, ends: RegExp): Token | undefined {
  let at = start;
  while (source[at] === ' ') at += 1;
  if (source[at] !== '"') {
    const length = source.slice(at).search(ends);
    const end = length < 0 ? source.length : at + length;
    return { text: source.slice(at, end).trim(), end };
  }
  const [quoted] = /^"(?:[^"]|"")*"/.exec(source.slice(at)) ?? [];
  if (quoted === undefined) return undefined;
  let end = at + quoted.length;
  while (source[end] === ' ') end += 1;
  if (end < source.length && !ends.test(source[end]!)) return undefined;
  return { text: quoted.slice(1, -1).replaceAll('""', '"'), end };
}

/** Reads a list, between semicolons or line breaks; undefined where its quotes do not fit. */
export function parseList(source: string): string[] | undefined {
  const values: string[] = [];
  for (let at = 0; at < source.length; ) {
    const token = readToken(source, at, /[;\r\n]/);
    if (!token) return undefined;
    if (token.text !== '' || source[at] === '"') values.push(token.text);
    at = token.end + 1;
  }
  return values;
}

/** Reads rows of pairs; undefined where the text is none. */
export function parseRows(source: string): [label: string, value: string][][] | undefined {
  const rows: [string, string][][] = [[]];
  for (let at = 0; at < source.length; ) {
    const label = readToken(source, at, /[:\r\n]/);
    if (!label || source[label.end] !== ':') return undefined;
    const value = readToken(source, label.end + 1, /[;\r\n]/);
    if (!value) return undefined;
    rows.at(-1)!.push([label.text, value.text]);
    at = value.end + 1;
    if (/[\r\n]/.test(source[value.end] ?? '')) {
      if (source.startsWith('\r\n', value.end)) at += 1;
      if (at < source.length) rows.push([]);
    }
  }
  return rows.filter((row) => row.length > 0);
}
