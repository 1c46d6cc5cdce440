import { csvCell, escapeSpreadsheetFormula, readCsv, unescapeSpreadsheetFormula } from './basics/csv.ts';
import { formLimits } from './basics/limits.ts';
import { formatExactBytes, quote } from './basics/problems.ts';
import { fitsBytes, isCleanText } from './basics/text.ts';
import { type EditedForm, type FormText, languagesOfStructure, listTexts, type TextChange } from './texts.ts';

/** The first column, with the key of the text. */
const keyColumn = 'key';
/** The second column, if the form does not name its language. */
const textColumn = 'text';
/** The maximum number of texts of a form, from its elements and options. */
const mostTexts = formLimits.elements * 8 + formLimits.formOptions;

/**
 * Writes the texts of a form as CSV for translators (RFC 4180). Each text is a line with its key, the
 * original, and a column for each other language. Texts that a spreadsheet could read as a formula get a
 * leading apostrophe.
 */
export function writeTextsFile(document: EditedForm): string {
  const [first, ...others] = columnsOf(document);
  const lines = [
    [keyColumn, first, ...others],
    ...listTexts(document).map(({ key, text, translations }) => [
      key,
      text,
      ...others.map((language) => translations[language] ?? ''),
    ]),
  ];
  return lines
    .map((cells) => `${cells.map((cell) => csvCell(escapeSpreadsheetFormula(cell))).join(',')}\r\n`)
    .join('');
}

/** A problem in a file, with its line number, counted from 1. */
export type TextsFileProblem = { readonly line: number; readonly message: string };

/** The changes in a translated file. The originals of `outdated` texts changed after the export. */
type TextsRead =
  | { readonly ok: true; readonly changes: readonly TextChange[]; readonly outdated: readonly FormText[] }
  | { readonly ok: false; readonly problems: readonly TextsFileProblem[] };

/**
 * Reads a translated file. Empty cells and missing columns change nothing. An unknown key or language, or a
 * text that is too long, is a problem; if there is one, nothing is changed.
 */
export function readTextsFile(document: EditedForm, file: string): TextsRead {
  const read = readCsv(file, mostTexts + 1);
  if (!read.ok) return refuse([{ line: 1, message: read.problem }]);
  const [head, ...records] = read.records;
  if (!head) return refuse([{ line: 1, message: 'The file is empty.' }]);
  if (read.total > mostTexts + 1)
    return refuse([{ line: 1, message: `The file has more than ${mostTexts} lines. Remove some lines.` }]);
  const languages = columnsOf(document);
  const columns = head.cells.map((cell) => cell.trim());
  const problems = headProblems(columns, languages).map((message) => ({ line: head.line, message }));
  if (problems.length > 0) return refuse(problems);

  const texts = new Map(listTexts(document).map((text) => [text.key, text]));
  const changes: TextChange[] = [];
  const outdated: FormText[] = [];
  for (const { line, cells } of records) {
    const values = new Map(
      columns.map((column, index) => [column, unescapeSpreadsheetFormula(cells[index] ?? '')]),
    );
    const key = values.get(keyColumn)!;
    const text = texts.get(key);
    if (!text) {
      problems.push({ line, message: `The form has no text ${quote(key)}. Remove the line.` });
      continue;
    }
    const [first, ...others] = languages;
    const original = values.get(first);
    if (original !== undefined && original !== '' && !isSameText(original, text.text)) outdated.push(text);
    for (const language of others) {
      const to = values.get(language) ?? '';
      if (to.trim() === '' || to === text.translations[language]) continue;
      const problem = translatedTextProblem(text, to);
      if (problem) problems.push({ line, message: `${quote(key)} in ${quote(language)} ${problem}.` });
      else changes.push({ text, language, to });
    }
  }
  return problems.length > 0 ? refuse(problems) : { ok: true, changes, outdated };
}

/** Returns the text columns: the form's own language, then the others. */
function columnsOf({ structure }: EditedForm): readonly [string, ...string[]] {
  const [first = textColumn, ...others] = languagesOfStructure(structure);
  return [first, ...others];
}

const refuse = (problems: readonly TextsFileProblem[]): TextsRead => ({
  ok: false,
  problems: problems.slice(0, formLimits.structureErrors),
});

function headProblems(columns: readonly string[], languages: readonly string[]): string[] {
  const known = [keyColumn, ...languages];
  const problems = columns
    .filter((column) => !known.includes(column))
    .map((column) => `Unknown column ${quote(column)}. Use one of these: ${known.map(quote).join(', ')}.`);
  if (new Set(columns).size < columns.length)
    problems.push('A column appears more than once. Remove the duplicate.');
  if (!columns.includes(keyColumn)) problems.push(`The column ${quote(keyColumn)} is missing. Add it.`);
  return problems;
}

/** Returns whether two texts are equal except for line breaks, which spreadsheets change. */
const isSameText = (one: string, other: string): boolean => withLines(one) === withLines(other);
const withLines = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/** Returns what is wrong with a text, as the end of a sentence. */
export function translatedTextProblem({ maxBytes, option, path }: FormText, to: string): string | undefined {
  if (!isCleanText(to)) return 'has an incomplete character';
  if (!fitsBytes(to, maxBytes)) return `has more than ${formatExactBytes(maxBytes)}`;
  const isLine = option !== undefined || (path === undefined && maxBytes === formLimits.labelBytes);
  return isLine && /[\r\n]/.test(to) ? 'must be on one line' : undefined;
}
