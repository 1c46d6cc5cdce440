/** A command's answer and its note for a person: a table when it is a list (`data`), else a line per property. */
export function describe(answer: object, note?: string): string {
  const lines = 'data' in answer && Array.isArray(answer.data) ? table(answer.data as Row[]) : pairs(answer);
  return [...lines, ...(note === undefined ? [] : [note])].join('\n');
}

function pairs(answer: object): string[] {
  const entries = Object.entries(answer);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${show(value)}`);
}

type Row = Readonly<Record<string, unknown>>;

function table(rows: readonly Row[]): string[] {
  if (rows.length === 0) return ['None.'];
  const columns = Object.keys(rows[0]!);
  const lines = [columns, ...rows.map((row) => columns.map((column) => show(row[column])))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]!.length)));
  const pad = (cell: string, index: number): string => cell.padEnd(widths[index]!);
  return lines.map((line) => line.map(pad).join('  ').trimEnd());
}

/** Control characters would act on the terminal: a name or an address may hold any. */
function show(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value).replaceAll('"', '');
  return text.replaceAll(/\p{Cc}/gu, '\ufffd');
}
