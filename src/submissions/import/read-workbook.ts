import { sayNumber } from '#ast/say-number.ts';
import { normalizeText } from '#ast/text.ts';
import { streamXlsxRows } from 'hucre/xlsx';
import { type Cell, importLimits, type Table } from './table.ts';

/**
 * The lines of the first sheet of a workbook, or why it cannot be read. To load the library takes longer than others may
 * wait, and a workbook unpacks to much more than it is: for a thread of its own, which is ended when it takes too much.
 */
export async function readWorkbook(bytes: Uint8Array): Promise<Table | string> {
  const table: Table = { lines: [], total: 0 };
  let characters = 0;
  try {
    for await (const { index, values } of streamXlsxRows(bytes)) {
      const cells = values.slice(0, importLimits.columns + 1).map(cellOf);
      if (cells.every((cell) => cell === '')) continue;
      table.total += 1;
      characters += cells.reduce<number>((sum, cell) => sum + String(cell).length, 0);
      if (characters > importLimits.characters)
        return `The first sheet has more than ${sayNumber(importLimits.characters)} characters. Import it in parts.`;
      if (table.lines.length <= importLimits.lines) table.lines.push({ line: index + 1, cells });
    }
  } catch (error) {
    // Whatever the library stumbles over is the file's: it reads nothing else.
    return `The workbook cannot be read: ${error instanceof Error ? error.message : 'it is damaged'}`;
  }
  return table;
}

function cellOf(value: unknown): Cell {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return normalizeText(value);
  return value instanceof Date && !Number.isNaN(value.getTime())
    ? value
        .toISOString()
        .slice(0, 19)
        .replace(/T00:00:00$/, '')
    : '';
}
