import { answerKindOf, type Form } from '#ast/form/tree.ts';
import {
  type ColumnFormat,
  type ColumnUse,
  describeColumns,
  findMappingProblem,
  findNamedColumns,
  guessDateOrder,
  guessDecimalMark,
  type ImportColumn,
  isFormloomExport,
  listExportUses,
  suggestMapping,
} from './mapping.ts';
import { isBlankCell } from './read-cell.ts';
import {
  type ImportedSubmission,
  type ImportForm,
  type LineDoubt,
  type LineProblem,
  type LineSettings,
  readLine,
} from './read-line.ts';
import type { DateOrder } from './read-moment.ts';
import type { DecimalMark } from './read-number.ts';
import { readWorkbook } from './read-workbook.ts';
import {
  calculatedQuestions,
  findImportTableProblem,
  type ImportCell,
  type ImportTable,
  type ImportTableSource,
  importableQuestions,
  importLimits,
  readCsvTable,
  unimportableQuestions,
} from './table.ts';

/** A file to import, with the use and formats of its columns. What is omitted is guessed for each column. */
export type ImportSource = ImportTableSource & {
  mapping?: readonly ColumnUse[] | undefined;
  dates?: DateOrder | undefined;
  decimal?: DecimalMark | undefined;
};

/** The result of a preview: what an import would do. */
export type ImportPlan = {
  columns: ImportColumn[];
  mapping: readonly ColumnUse[];
  formats: readonly ColumnFormat[];
  /** The formats of the first date column and the first number column, which a person can correct. */
  writing: ColumnFormat;
  entries: { line: number; entry: ImportedSubmission }[];
  problems: LineProblem[];
  doubts: LineDoubt[];
};

/**
 * Reads a file line by line: its submissions, checked by the rules of the page, and the problems of each
 * cell.
 * @returns the plan, or a message if nothing can be used.
 */
export async function planImport(source: ImportSource, about: ImportForm): Promise<ImportPlan | string> {
  if (source.kind === 'xlsx' && (source.data.length * 3) / 4 > importLimits.workbookBytes)
    return 'The workbook is larger than 4 MB. Import it in parts, or as CSV.';
  const table =
    source.kind === 'csv'
      ? readCsvTable(source.text)
      : await readWorkbook(Buffer.from(source.data, 'base64'));
  if (typeof table === 'string') return table;
  const problem = findImportTableProblem(table);
  if (problem !== undefined) return problem;
  const columns = describeColumns(table);
  const mapping = source.mapping ?? suggestMapping(columns, about.form);
  const wrong = findMappingProblem(mapping, columns.length, about.form);
  if (wrong !== undefined && source.mapping) return wrong;
  const { formats, writing, doubts } = guessFormats(table, source, { columns, mapping, about });
  // If no mapping was chosen, the person sees the columns first.
  if (wrong !== undefined)
    return { columns, mapping, formats, writing, entries: [], problems: [], doubts: [] };
  const reading = { ...about, columns, mapping, formats, isOwn: isFormloomExport(columns) };
  const read = readLines(table, reading);
  return {
    columns,
    mapping,
    formats,
    writing,
    entries: read.entries,
    problems: [...unusedColumns(table, reading), ...read.problems],
    doubts: [...apostropheDoubt(table), ...doubts, ...read.doubts],
  };
}

/**
 * Returns the date and number formats of each column: as given, or guessed from its cells. Only date and
 * number columns are examined.
 */
function guessFormats(
  { lines }: ImportTable,
  source: ImportSource,
  {
    columns,
    mapping,
    about,
  }: { columns: readonly ImportColumn[]; mapping: readonly ColumnUse[]; about: ImportForm },
): Pick<ImportPlan, 'formats' | 'writing' | 'doubts'> {
  const doubts: LineDoubt[] = [];
  const body = lines.slice(1);
  const isOwn = isFormloomExport(columns);
  const formats = columns.map(({ title }, index): ColumnFormat => {
    const cells = body.map((line) => line.cells[index] ?? '');
    const kind = kindOfColumn(mapping[index], about.form);
    const doubt = (found: { index: number; message: string } | undefined): void => {
      if (found) doubts.push({ line: body[found.index]!.line, column: title, message: found.message });
    };
    const given = { dates: source.dates ?? ('ymd' as const), decimal: source.decimal ?? ('.' as const) };
    if (kind === 'moment' && source.dates === undefined) {
      const { format, doubt: found } = guessDateOrder(cells, about.language);
      doubt(found);
      return { ...given, dates: format };
    }
    if (kind === 'number' && source.decimal === undefined && !(isOwn && cells.every(isExportedNumber))) {
      const { format, doubt: found } = guessDecimalMark(cells, about.language);
      doubt(found);
      return { ...given, decimal: format };
    }
    return given;
  });
  const first = (kind: 'moment' | 'number'): ColumnFormat | undefined =>
    formats.find((_, index) => kindOfColumn(mapping[index], about.form) === kind);
  const writing = {
    dates: source.dates ?? first('moment')?.dates ?? 'ymd',
    decimal: source.decimal ?? first('number')?.decimal ?? '.',
  };
  return { formats, writing, doubts };
}

/** Whether the cell could be a number in the format of our exports. */
const isExportedNumber = (cell: ImportCell): boolean =>
  typeof cell !== 'string' || cell === '' || String(Number(cell)) === cell;

function kindOfColumn(use: ColumnUse | undefined, form: Form): 'moment' | 'number' | undefined {
  if (use?.as === 'submitted_at' || use?.as === 'started_at') return 'moment';
  if (use?.as !== 'answer') return undefined;
  const input = importableQuestions(form).get(use.name)?.input;
  if (use.row === 'at' && input?.type === 'consent') return 'moment';
  const kind = input && answerKindOf(input);
  return kind === 'moment' || kind === 'number' ? kind : undefined;
}

const apostropheDoubt = ({ apostrophe }: ImportTable): LineDoubt[] =>
  apostrophe
    ? [
        {
          line: apostrophe.line,
          column: null,
          message: `The apostrophe before possible formulas is ${apostrophe.isRemoved ? 'removed' : 'kept as part of the text'}.`,
        },
      ]
    : [];

/**
 * Returns the non-empty columns from which nothing is imported: files and, in our own exports, retired
 * questions.
 */
function unusedColumns(
  { lines }: ImportTable,
  { columns, mapping, form, isOwn }: LineSettings,
): LineProblem[] {
  const [head, ...body] = lines;
  const files = findNamedColumns(columns, unimportableQuestions(form));
  const results = findNamedColumns(columns, calculatedQuestions(form));
  const own = listExportUses(columns);
  return columns.flatMap(({ title }, index) => {
    const isLost = files.has(index) || (isOwn && !own.has(index) && !results.has(index));
    if (!isLost || mapping[index]?.as !== 'ignore') return [];
    if (body.every((line) => isBlankCell(line.cells[index] ?? ''))) return [];
    const message = files.has(index)
      ? 'Files and signatures cannot be imported from a cell, so they are skipped.'
      : 'The form has no question for this column, so it is skipped.';
    return [{ line: head!.line, column: title, message, is_left_out: false }];
  });
}

function readLines(
  { lines }: ImportTable,
  reading: LineSettings,
): Pick<ImportPlan, 'entries' | 'problems' | 'doubts'> {
  const entries: ImportPlan['entries'] = [];
  const problems: LineProblem[] = [];
  const doubts: LineDoubt[] = [];
  for (const line of lines.slice(1)) {
    const { entry, problems: found, doubts: unsure } = readLine(line, reading);
    problems.push(...found);
    doubts.push(...unsure);
    if (!found.some((problem) => problem.is_left_out)) entries.push({ line: line.line, entry });
  }
  return { entries, problems, doubts };
}
