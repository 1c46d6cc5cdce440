/** A command's answer and its note for a person: a table when it is a list (`data`), else a line per property. */
export function describe(answer: object, note?: string): string {
  const lines = 'data' in answer && Array.isArray(answer.data) ? table(answer.data as Row[]) : pairs(answer);
  return [...lines, ...(note === undefined ? [] : [note])].join('\n');
}

/** The lines of a value after its first stand below it: in the column of names they would pass for properties. */
function pairs(answer: object): string[] {
  const entries = Object.entries(answer);
  const width = Math.max(...entries.map(([name]) => name.length));
  const indent = `\n${' '.repeat(width + 2)}`;
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${linesOf(value).map(show).join(indent)}`);
}

const linesOf = (value: unknown): unknown[] =>
  typeof value === 'string' ? value.trimEnd().split('\n') : [value];

type Row = Readonly<Record<string, unknown>>;

function table(rows: readonly Row[]): string[] {
  if (rows.length === 0) return ['None.'];
  const columns = Object.keys(rows[0]!);
  const lines = [columns, ...rows.map((row) => columns.map((column) => show(row[column])))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]!.length)));
  const pad = (cell: string, index: number): string => cell.padEnd(widths[index]!);
  return lines.map((line) => line.map(pad).join('  ').trimEnd());
}

/** Control characters would act on the terminal: a name or an address may hold any. What is no text is JSON. */
function show(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value.replaceAll(/\p{Cc}/gu, '\ufffd');
  return JSON.stringify(value).replaceAll(/\p{Cc}/gu, escape);
}

const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
