import { isRecord } from '#ast/json.ts';

/**
 * A command's answer and its note for a person: a table when it is a list (`data`), else a line per property.
 * @param width of the terminal; a table leaves out the columns that it has no room for, and says so.
 */
export function describe(
  answer: object,
  { note, width }: { note?: string | undefined; width?: number | undefined } = {},
): string {
  const isList = 'data' in answer && Array.isArray(answer.data);
  const lines = isList ? [...table(answer.data as Row[], width), ...pageOf(answer)] : pairs(answer);
  return [...lines, ...(note === undefined ? [] : [note])].join('\n');
}

/** Where a list goes on. */
function pageOf(answer: object): string[] {
  const { pagination } = answer as { pagination?: Record<'page' | 'total_pages' | 'total_count', number> };
  if (!pagination || pagination.total_pages <= 1) return [];
  const { page, total_pages: pages, total_count: count } = pagination;
  return [`Page ${page} of ${pages}, ${count} in all: --page chooses one, --all reads them.`];
}

/** The lines of a value after its first stand below it: in the column of names they would pass for properties. */
function pairs(answer: object): string[] {
  const entries = Object.entries(answer);
  if (entries.length === 0) return ['Done.'];
  const width = Math.max(...entries.map(([name]) => name.length));
  const indent = `\n${' '.repeat(width + 2)}`;
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${linesOf(value).join(indent)}`);
}

/** JSON that is longer than this is printed over several lines. */
const longestLine = 80;

function linesOf(value: unknown): string[] {
  if (typeof value === 'string') return value.trimEnd().split('\n').map(show);
  const line = show(value);
  return line.length <= longestLine || typeof value !== 'object'
    ? [line]
    : escaped(JSON.stringify(value, null, 2)).split('\n');
}

type Row = Readonly<Record<string, unknown>>;

function table(rows: readonly Row[], width = Number.MAX_SAFE_INTEGER): string[] {
  if (rows.length === 0) return ['None.'];
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  // A list of things with parts is read by what they are called, not by their parts.
  const plain = all.filter((column) => rows.some((row) => !isRecord(row[column])));
  const cells = (row: Row): string[] => plain.map((column) => show(row[column]));
  const lines = [plain, ...rows.map(cells)];
  const widths = plain.map((_, index) => Math.max(...lines.map((line) => line[index]!.length)));
  let room = width;
  const fitting = widths.findIndex((each) => (room -= each + 2) < -2);
  const count = fitting <= 0 ? plain.length : fitting;
  const pad = (cell: string, index: number): string => cell.padEnd(widths[index]!);
  const drawn = lines.map((line) => line.slice(0, count).map(pad).join('  ').trimEnd());
  const left = [...all.filter((column) => !plain.includes(column)), ...plain.slice(count)];
  return left.length === 0 ? drawn : [...drawn, `Not shown: ${left.join(', ')}. --json has everything.`];
}

/** Control characters would act on the terminal: a name or an address may hold any. What is no text is JSON. */
function show(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value.replaceAll(/\p{Cc}/gu, '\ufffd');
  return escaped(JSON.stringify(value));
}

const escaped = (text: string): string => text.replaceAll(/(?!\n)\p{Cc}/gu, escape);
const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
