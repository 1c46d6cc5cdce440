import { dirname, posix } from 'node:path';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { normalizeText } from '#ast/basics/text.ts';
import { openZip, type Zip } from '#kit/archives.ts';
import { parseXml } from '#kit/xml.ts';
import { type ImportCell, type ImportTable, importLimits } from './table.ts';

/* Workbooks store dates and times as days since 1900 or 1904, with a date format on the cell. */

const dayMs = 86_400_000;
/** 1900-01-01 is day 1. Excel treats 1900 as a leap year, so from day 61 on, its numbers are one too high. */
const before1900 = Date.UTC(1899, 11, 31);
const leapDay = 60;
const first1904 = Date.UTC(1904, 0, 1);

/** Returns a date or moment as ISO 8601; undefined for years outside 1 to 9999. */
function readSerial(serial: number, from1904: boolean): string | undefined {
  const days = from1904 || serial <= leapDay ? serial : serial - 1;
  // The error of a double is less than a microsecond in this range.
  const date = new Date((from1904 ? first1904 : before1900) + Math.round(days * dayMs));
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 1 || year > 9_999) return undefined;
  return date
    .toISOString()
    .slice(0, 23)
    .replace(/\.000$/, '')
    .replace(/T00:00:00$/, '');
}

/** The built-in date and time formats of workbooks (ECMA-376, 18.8.30). */
const builtIn: readonly [from: number, to: number][] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];

const isDateFormatId = (id: number): boolean => builtIn.some(([from, to]) => id >= from && id <= to);

/**
 * Whether a format code shows dates or times: `yyyy-mm-dd`, `[h]:mm`. Ignores literal text, colors and fill
 * characters in the code.
 */
function isDateFormat(code: string): boolean {
  // Excel allows 255 characters.
  const [first = ''] = code.slice(0, 1_024).split(';');
  const bare = first.replaceAll(/"[^"]*"|\\.|[_*]./g, '').replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '');
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}

/**
 * Limits for a workbook. 10,000 rows of 100 columns are some 45 MB of XML.
 * docs/decisions/0096-archive-and-workbook-readers.md
 */
const limits = {
  zip: { entries: 2_000, bytes: 64 * 1024 * 1024 },
  /** Excel has 1,048,576 rows, 16,384 columns and some 65,000 cell formats. */
  rows: 1_048_576,
  columns: 16_384,
  formats: 70_000,
  /** This includes empty cells, because each takes time. */
  cells: 1_500_000,
  sharedStrings: 1_000_000,
} as const;

const tooManyCharacters = `The first sheet has more than ${formatWholeNumber(importLimits.characters)} characters. Import it in parts.`;

/** A workbook that must be imported in parts. The message is shown unchanged. */
class TooMuch extends Error {}

/**
 * Returns the lines of the first sheet of a workbook, or why it cannot be read. It can take seconds, so run
 * it in a thread with a timeout (start-import.ts). Reads only the sheet, the shared strings and the cell
 * formats.
 */
export async function readWorkbook(bytes: Uint8Array): Promise<ImportTable | string> {
  try {
    const zip = await openZip(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), limits.zip);
    const workbook = await readParts(zip);
    const isDate = workbook.styles === undefined ? [] : await readDateFormats(zip, workbook.styles);
    const strings = workbook.strings === undefined ? [] : await readSharedStrings(zip, workbook.strings);
    return await readSheet(zip, { ...workbook, isDate, strings });
  } catch (error) {
    if (error instanceof TooMuch) return error.message;
    return `The workbook cannot be read: ${error instanceof Error ? error.message : 'It is damaged.'}`;
  }
}

/** The names of the parts to read, from the relationships of the file. */
type Parts = {
  sheet: string;
  styles: string | undefined;
  strings: string | undefined;
  /** Whether days count from 1904, as in old versions of Excel for Mac. */
  from1904: boolean;
};

async function readParts(zip: Zip): Promise<Parts> {
  const root = await readRelations(zip, '_rels/.rels', '');
  const workbook = root.find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  const folder = dirname(workbook);
  const relations = await readRelations(zip, `${folder}/_rels/${posix.basename(workbook)}.rels`, folder);
  const targetOf = (wanted: string) => relations.find(({ type }) => type === wanted)?.target;
  let first: string | undefined;
  let from1904 = false;
  await parseXml(zip.read(workbook), {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = isTrue(attributes['date1904']);
      if (name === 'sheet') first ??= attributes['r:id'] ?? relationOf(attributes);
    },
  });
  const sheet = relations.find(({ id }) => id === first)?.target;
  if (sheet === undefined) throw new Error('It has no sheet.');
  return { sheet, styles: targetOf('styles'), strings: targetOf('sharedStrings'), from1904 };
}

const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true';
/** The relationships namespace may have a prefix other than `r:`. */
const relationOf = (attributes: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1];

type Relation = { id: string; type: string; target: string };

/** Reads relationships; `target` is the name of a part. Returns none if the file does not exist. */
async function readRelations(zip: Zip, name: string, folder: string): Promise<Relation[]> {
  const found: Relation[] = [];
  if (!zip.has(name)) return found;
  await parseXml(zip.read(name), {
    open(element, { Id: id = '', Type: type = '', Target: target = '' }) {
      if (element !== 'Relationship' || found.length === limits.zip.entries) return;
      found.push({
        id,
        type: type.slice(type.lastIndexOf('/') + 1),
        target: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
      });
    },
  });
  return found;
}

/** Reads which cell formats are date or time formats. */
async function readDateFormats(zip: Zip, part: string): Promise<boolean[]> {
  const isDate: boolean[] = [];
  const ownFormats = new Map<string, boolean>();
  let isInCells = false;
  await parseXml(zip.read(part), {
    open(name, { numFmtId = '', formatCode = '' }) {
      if (isDate.length > limits.formats || ownFormats.size > limits.formats)
        throw new Error('It has too many cell formats.');
      if (name === 'numFmt') ownFormats.set(numFmtId, isDateFormat(formatCode));
      if (name === 'cellXfs') isInCells = true;
      if (name === 'xf' && isInCells)
        isDate.push(ownFormats.get(numFmtId) ?? isDateFormatId(Number(numFmtId)));
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return isDate;
}

/** Collects the texts of `t` elements, without the pronunciation (`rPh`) in some Japanese texts. */
function collectText(take: (text: string) => void) {
  let pieces: string[] = [];
  let length = 0;
  let isText = false;
  let isPronunciation = false;
  return {
    open(name: string): void {
      if (name === 't') isText = true;
      if (name === 'rPh') isPronunciation = true;
    },
    text(piece: string): void {
      if (!isText || isPronunciation) return;
      length += piece.length;
      if (length > importLimits.characters) throw new TooMuch(tooManyCharacters);
      pieces.push(piece);
    },
    close(name: string): void {
      if (name === 't') isText = false;
      if (name === 'rPh') isPronunciation = false;
    },
    end(): void {
      take(pieces.length === 1 ? pieces[0]! : pieces.join(''));
      pieces = [];
      length = 0;
    },
  };
}

async function readSharedStrings(zip: Zip, part: string): Promise<string[]> {
  const strings: string[] = [];
  const collected = collectText((text) => void strings.push(unescapeText(text)));
  await parseXml(zip.read(part), {
    open(name) {
      if (strings.length > limits.sharedStrings) throw new Error('It has too many shared strings.');
      collected.open(name);
    },
    text: (piece) => collected.text(piece),
    close(name) {
      collected.close(name);
      if (name === 'si') collected.end();
    },
  });
  return strings;
}

/** `_x000D_` represents a character that XML cannot contain. */
const unescapeText = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;

type SheetParts = Omit<Parts, 'strings'> & { isDate: readonly boolean[]; strings: readonly string[] };

async function readSheet(zip: Zip, { sheet, from1904, isDate, strings }: SheetParts): Promise<ImportTable> {
  const table: ImportTable = { lines: [], total: 0 };
  let characters = 0;
  let cellCount = 0;
  let row: { line: number; cells: ImportCell[]; next: number } | undefined;
  let last = 0;
  let cell: { column: number; type: string; style: number } | undefined;
  let isValue = false;
  let value = '';
  let inline = '';
  const collected = collectText((text) => {
    inline = text;
  });

  const readCell = ({ type, style }: NonNullable<typeof cell>): ImportCell => {
    if (type === 's') return (/^\d+$/.test(value) && strings[Number(value)]) || '';
    if (type === 'inlineStr') return unescapeText(inline);
    if (type === 'str') return unescapeText(value);
    if (type === 'b') return isTrue(value.toLowerCase());
    const number = Number(value);
    if (type === 'e' || type === 'd' || value.trim() === '' || !Number.isFinite(number)) return value;
    return (isDate[style] ? readSerial(number, from1904) : undefined) ?? number;
  };
  const endCell = (): void => {
    const read = readCell(cell!);
    const content = typeof read === 'string' ? normalizeText(read) : read;
    if (content !== '') {
      characters += String(content).length;
      if (characters > importLimits.characters) throw new TooMuch(tooManyCharacters);
      // Keeping one extra column is enough to show that there are too many.
      const column = Math.min(cell!.column, importLimits.columns);
      while (row!.cells.length < column) row!.cells.push('');
      row!.cells[column] = content;
    }
    cell = undefined;
  };
  const endRow = (): void => {
    const { line, cells } = row!;
    row = undefined;
    if (cells.length === 0) return;
    table.total += 1;
    if (table.lines.length <= importLimits.lines) table.lines.push({ line, cells });
  };

  await parseXml(zip.read(sheet), {
    open(name, attributes) {
      if (name === 'row') {
        last = Math.max(last + 1, Number(attributes['r']) || 0);
        if (last > limits.rows) throw new Error('It has too many rows.');
        row = { line: last, cells: [], next: 0 };
      } else if (row && name === 'c') {
        cellCount += 1;
        if (cellCount > limits.cells)
          throw new TooMuch('The first sheet has too many cells. Import it in parts.');
        const column = columnOf(attributes['r']) ?? row.next;
        if (column >= limits.columns) throw new Error('It has too many columns.');
        row.next = column + 1;
        cell = { column, type: attributes['t'] ?? 'n', style: Number(attributes['s'] ?? 0) };
        [value, inline] = ['', ''];
      } else if (cell && name === 'v') isValue = true;
      else if (cell) collected.open(name);
    },
    text(piece) {
      if (!isValue) {
        if (cell) collected.text(piece);
        return;
      }
      value += piece;
      if (value.length > importLimits.characters) throw new TooMuch(tooManyCharacters);
    },
    close(name) {
      if (name === 'v') isValue = false;
      else if (cell && name === 'c') {
        collected.end();
        endCell();
      } else if (row && name === 'row') endRow();
      else if (cell) collected.close(name);
    },
  });
  return table;
}

/** Returns the column index in a reference such as `AB12`; undefined without a reference. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = reference === undefined ? undefined : /^\$?([A-Z]{1,7})\$?\d/i.exec(reference)?.[1];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
