import { csvCell, guardFormula, readCsv, unguardFormula } from './basics/csv.ts';
import { limits } from './basics/limits.ts';
import { quote, sayBytes } from './basics/problems.ts';
import { fitsBytes, isCleanText } from './basics/text.ts';
import { type FormText, listTexts, namedLanguages, type TextChange, type TextDocument } from './texts.ts';

/** The first column: which text it is. */
const keyColumn = 'key';
/** The second one, of a form that does not say in which language it is written. */
const textColumn = 'text';
/** The most texts of a form: every element has some, and its options. */
const mostTexts = limits.elements * 8 + limits.formOptions;

/**
 * The texts of a form as a file for translators (RFC 4180): a line for each, with its key, what it is in the form's own
 * language, and a column for each of the others. What a spreadsheet could take for a formula has an apostrophe before it.
 */
export function writeTextsFile(document: TextDocument): string {
  const [first, ...others] = columnsOf(document);
  const lines = [
    [keyColumn, first, ...others],
    ...listTexts(document).map(({ key, text, translations }) => [
      key,
      text,
      ...others.map((language) => translations[language] ?? ''),
    ]),
  ];
  return lines.map((cells) => `${cells.map((cell) => csvCell(guardFormula(cell))).join(',')}\r\n`).join('');
}

/** What is wrong with a file, by its line, from 1. */
export type FileProblem = { readonly line: number; readonly message: string };

/** What a file says of the texts of a form; `outdated` are those that were written anew since the file was. */
export type TextsRead =
  | { readonly ok: true; readonly changes: readonly TextChange[]; readonly outdated: readonly FormText[] }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/**
 * Reads such a file back. An empty cell changes nothing; a column that is left out neither. A key or a language that the
 * form does not have is a problem, and so is a text that is too long: then nothing of the file counts.
 */
export function readTextsFile(document: TextDocument, file: string): TextsRead {
  const read = readCsv(file, mostTexts + 1);
  if (!read.ok) return refuse([{ line: 1, message: read.problem }]);
  const [head, ...records] = read.records;
  if (!head) return refuse([{ line: 1, message: 'The file is empty.' }]);
  if (read.total > mostTexts + 1)
    return refuse([{ line: 1, message: `The file has more than ${mostTexts} lines.` }]);
  const languages = columnsOf(document);
  const columns = head.cells.map((cell) => cell.trim());
  const problems = headProblems(columns, languages).map((message) => ({ line: head.line, message }));
  if (problems.length > 0) return refuse(problems);

  const texts = new Map(listTexts(document).map((text) => [text.key, text]));
  const changes: TextChange[] = [];
  const outdated: FormText[] = [];
  for (const { line, cells } of records) {
    const values = new Map(columns.map((column, index) => [column, unguardFormula(cells[index] ?? '')]));
    const key = values.get(keyColumn)!;
    const text = texts.get(key);
    if (!text) {
      problems.push({ line, message: `The form has no text ${quote(key)}.` });
      continue;
    }
    const [first, ...others] = languages;
    const original = values.get(first);
    if (original !== undefined && original !== '' && !isSameText(original, text.text)) outdated.push(text);
    for (const language of others) {
      const to = values.get(language) ?? '';
      if (to.trim() === '' || to === text.translations[language]) continue;
      const problem = textProblem(text, to);
      if (problem) problems.push({ line, message: `${quote(key)} in ${quote(language)} ${problem}.` });
      else changes.push({ text, language, to });
    }
  }
  return problems.length > 0 ? refuse(problems) : { ok: true, changes, outdated };
}

/** Those of the texts: the form's own language, and the others. */
function columnsOf({ structure }: TextDocument): readonly [string, ...string[]] {
  const [first = textColumn, ...others] = namedLanguages(structure);
  return [first, ...others];
}

const refuse = (problems: readonly FileProblem[]): TextsRead => ({
  ok: false,
  problems: problems.slice(0, limits.structureErrors),
});

function headProblems(columns: readonly string[], languages: readonly string[]): string[] {
  const known = [keyColumn, ...languages];
  const problems = columns
    .filter((column) => !known.includes(column))
    .map((column) => `There is no column ${quote(column)}: a column is ${known.map(quote).join(', ')}.`);
  if (new Set(columns).size < columns.length) problems.push('A column is there more than once.');
  if (!columns.includes(keyColumn)) problems.push(`The column ${quote(keyColumn)} is missing.`);
  return problems;
}

/** Spreadsheets write line breaks in their own way. */
const isSameText = (one: string, other: string): boolean => withLines(one) === withLines(other);
const withLines = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/** What keeps a text from standing in a place, as the end of a sentence. */
export function textProblem({ maxBytes, option, path }: FormText, to: string): string | undefined {
  if (!isCleanText(to)) return 'has half a character';
  if (!fitsBytes(to, maxBytes)) return `has more than ${sayBytes(maxBytes)}`;
  const isLine = option !== undefined || (path === undefined && maxBytes === limits.labelBytes);
  return isLine && /[\r\n]/.test(to) ? 'must be of one line' : undefined;
}
