import { factOf } from '#ast/basics/fact-of.ts';
import { own } from '#ast/basics/json.ts';
import { otherChoice } from '#ast/basics/options.ts';
import { type InputElement, kindOf, takesOther, takesSeveralInRow } from '#ast/form/tree.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import { parseList, parseRows } from '../export/cells.ts';
import type { ColumnFormat } from './mapping.ts';
import { readInstant, readMomentAnswer } from './read-moment.ts';
import { readNumber } from './read-number.ts';
import { type Cell, finderOf, type ImportQuestion, plain } from './table.ts';
import type { Home } from './time-zones.ts';

/** What a cell says, or why it says nothing that can be used. `doubt`: it is used, and could be meant otherwise. */
export type CellRead = { readonly value: unknown; readonly doubt?: string } | { readonly problem: string };

/** More ways to read a cell than one are too many, and are not counted on. */
const tooMany = 2;

/**
 * Reads a cell with several choices. Our own exports quote a choice that holds a separator, so that they are read in one way.
 * Other services join choices by commas, semicolons or line breaks, also those that hold one: then the options tell where
 * a choice ends.
 * @param isOwn the file is an export of this product.
 */
function readChoices(question: ImportQuestion, text: string, isOwn: boolean): CellRead {
  const find = finderOf(question.options);
  const list = parseList(text) ?? [text];
  const chosen = list.map((part) => find(part) ?? part);
  const isKnown = list.every((part) => find(part) !== undefined);
  if (isOwn && parseList(text)) return { value: chosen };
  const ways = new Map(waysToRead(question, text).map((way) => [JSON.stringify(way.toSorted()), way]));
  if (isKnown) ways.set(JSON.stringify(chosen.toSorted()), chosen);
  const [only] = ways.values();
  if (ways.size > 1) return { problem: `"${text}" can be read as different choices.` };
  if (only) return { value: only };
  return question.input && takesOther(question.input)
    ? readWithOther(question, text, chosen)
    : { value: chosen };
}

/** Google Forms puts an answer besides the options behind them, after a comma. */
function readWithOther(question: ImportQuestion, text: string, chosen: readonly string[]): CellRead {
  const find = finderOf(question.options);
  if (chosen.length > 1) return { value: chosen };
  for (const { 0: mark, index } of [...text.matchAll(/,\s*/g)].toReversed()) {
    const [known] = waysToRead(question, text.slice(0, index));
    const other = text.slice(index + mark.length).trim();
    if (!known || other === '' || find(other) !== undefined) continue;
    return { value: [...known, other], doubt: `"${other}" is read as an answer besides the options.` };
  }
  return { value: chosen };
}

/** The labels and ids of options, long ones first. */
const namesOf = factOf((question: ImportQuestion): readonly string[] =>
  [
    ...new Set(
      question.options.flatMap(({ id, labels }) => [...labels, id].map((name) => name.toLowerCase())),
    ),
  ].toSorted((a, b) => b.length - a.length),
);

/** A cell that lists more than this is none of a questionnaire. */
const longestList = 20_000;

/** The ways in which a text is a list of options and nothing else: none, one, or the first two. */
function waysToRead(question: ImportQuestion, text: string): string[][] {
  const find = finderOf(question.options);
  const source = text.trim();
  const lower = source.toLowerCase();
  if (source.length > longestList || lower.length !== source.length) return [];
  const known = new Map<number, string[][]>();
  const from = (start: number, depth: number): string[][] => {
    const rest = source.slice(start);
    const skipped = start + rest.length - rest.trimStart().length;
    if (skipped >= source.length) return [[]];
    if (depth >= question.options.length) return [];
    const made = known.get(skipped);
    if (made) return made;
    known.set(skipped, []);
    const ways: string[][] = [];
    for (const name of namesOf(question)) {
      if (ways.length >= tooMany) break;
      if (!lower.startsWith(name, skipped)) continue;
      const end = skipped + name.length;
      const id = find(source.slice(skipped, end));
      const separator = /^\s*[,;\n]|^\s*$/.exec(source.slice(end));
      if (id === undefined || !separator) continue;
      for (const way of from(end + separator[0].length, depth + 1))
        if (!way.includes(id)) ways.push([id, ...way]);
    }
    known.set(skipped, ways.slice(0, tooMany));
    return known.get(skipped)!;
  };
  return from(0, 0);
}

/** How a cell is to be read: as its column writes, in the form's language, and whether the file is an export of this product. */
type CellContext = { readonly format: ColumnFormat; readonly home: Home; readonly isOwn: boolean };

type Reader = (question: ImportQuestion, cell: Cell, context: CellContext) => CellRead;

/** The numbers and days that a row of our exports writes, whatever the columns around it do. */
const ownFormat: ColumnFormat = { dates: 'ymd', decimal: '.' };

/** Returns a cell as the answer that a program would send, which is not checked yet. A blank cell is no answer. */
export function readCell(question: ImportQuestion, cell: Cell, context: CellContext): CellRead {
  if (isBlankCell(cell)) return { value: undefined };
  return question.input
    ? readers[kindOf(question.input)](question, cell, context)
    : readRows(question, cell, context);
}

export const isBlankCell = (cell: Cell): boolean => typeof cell === 'string' && cell.trim() === '';

const readText: Reader = (_question, cell) =>
  typeof cell === 'number' && Math.abs(cell) > Number.MAX_SAFE_INTEGER
    ? { problem: 'A workbook does not keep all digits of so long a number. Format the column as text.' }
    : { value: String(cell) };

const readers: Readonly<Record<AnswerKind, Reader>> = {
  text: readText,
  moment: ({ input }, cell, { format, home }) =>
    readMomentAnswer((input as Moment).type, cell, format.dates, home.language),
  number: (_question, cell, { format }) => readNumber(cell, format.decimal),
  boolean: (_question, cell) => ({ value: readFlag(cell) }),
  consent: readConsent,
  choice: (question, cell) => ({ value: readChoice(question, cell) }),
  choices: (question, cell, { isOwn }) => readChoices(question, String(cell), isOwn),
  order: (question, cell, { isOwn }) => readChoices(question, String(cell), isOwn),
  grid: readGrid,
  files: () => ({ value: undefined }),
};

type Moment = Extract<InputElement, { type: 'date' | 'time' | 'datetime' }>;

/** An option by its label or its id; another text stays as it is, and may be an answer besides the options. */
const readChoice = ({ options }: ImportQuestion, cell: Cell): string =>
  finderOf(options)(String(cell)) ?? String(cell).trim();

/** Words of the languages that pages speak, and what programs and spreadsheets write. */
const yes =
  'yes true 1 y x ✓ ✔ checked selected ja wahr oui vrai sí si verdadero sim verdadeiro نعم はい 是'.split(
    ' ',
  );
const no = 'no false 0 n - unchecked nein falsch non faux falso não nao لا いいえ 否'.split(' ');

/** Returns whether a cell says yes or no; what says neither comes back as it is. */
function readFlag(cell: Cell): unknown {
  const word = plain(String(cell));
  if (yes.includes(word)) return true;
  return no.includes(word) ? false : cell;
}

/** Yes and no, or the sentence that was agreed to, as Google Forms has it. */
function readConsent({ input }: ImportQuestion, cell: Cell): CellRead {
  const isStatement = input?.type === 'consent' && plain(String(cell)) === plain(input.attrs.statement);
  return { value: isStatement ? true : readFlag(cell) };
}

/** A matrix in one cell: pairs of its rows and what is chosen in them. */
function readGrid(question: ImportQuestion, cell: Cell, context: CellContext): CellRead {
  const rows = parseRows(String(cell));
  if (rows?.length !== 1) return { value: String(cell) };
  return readPairs(rows[0]!, (label) => {
    const row = finderOf(question.rows)(label);
    return row === undefined ? undefined : [row, (value) => readPart(question, row, value, context)];
  });
}

/**
 * Returns the cell of one row of a matrix, or of one part of a consent.
 * @param row its id.
 */
export function readPart(question: ImportQuestion, row: string, cell: Cell, context: CellContext): CellRead {
  if (isBlankCell(cell)) return { value: undefined };
  const { input } = question;
  if (input?.type === 'consent') return readConsentPart(input, row, cell, context);
  return input && takesSeveralInRow(input)
    ? readChoices(question, String(cell), context.isOwn)
    : { value: readChoice(question, cell) };
}

function readConsentPart(
  { attrs }: Extract<InputElement, { type: 'consent' }>,
  part: string,
  cell: Cell,
  { format, home }: CellContext,
): CellRead {
  if (part === 'agreed') return { value: readFlag(cell) };
  // The version of another form says nothing here; the text has to be that of this form.
  if (part === 'version') return { value: undefined };
  if (part === 'text') {
    const isSame = plain(String(cell)) === plain(attrs.statement);
    return isSame
      ? { value: undefined }
      : { problem: 'Another text was agreed to than the one of this form.' };
  }
  const moment = readInstant(typeof cell === 'boolean' ? String(cell) : cell, { order: format.dates, home });
  return 'problem' in moment ? moment : { value: new Date(moment.at).toISOString() };
}

/** The rows of a repeatable composite, one in each line of the cell. */
function readRows(question: ImportQuestion, cell: Cell, context: CellContext): CellRead {
  const rows = parseRows(String(cell));
  if (!rows)
    return { problem: 'Write each row on a line of its own, as "Question: answer; Question: answer".' };
  const inRow = { ...context, format: ownFormat, isOwn: true };
  const read = rows.map((row) =>
    readPairs(row, (label) => {
      const id = finderOf(question.inputs)(label) ?? bracketedId(question, label);
      const asked = question.inputs.find((input) => input.id === id);
      return asked && [asked.id, (value) => readInRow(asked, value, inRow)];
    }),
  );
  const wrong = read.find((row) => 'problem' in row);
  return (
    wrong ?? { value: read.flatMap((row) => ('value' in row && row.value !== undefined ? [row.value] : [])) }
  );
}

/** `Name (id)`, as exports call one of two questions of one name. */
function bracketedId({ inputs }: ImportQuestion, label: string): string | undefined {
  return inputs.find(({ id }) => label.endsWith(` (${id})`))?.id;
}

function readInRow(asked: ImportQuestion, value: string, context: CellContext): CellRead {
  const { input } = asked;
  if (input && kindOf(input) === 'files')
    return { problem: `"${asked.labels[0]}" takes files, which a cell cannot hold.` };
  // What is calculated is calculated again.
  if (input?.type === 'calculation') return { value: undefined };
  const parts = input?.type === 'consent' ? parseRows(value) : undefined;
  if (parts?.length !== 1) return readCell(asked, value, context);
  const read = readPairs(parts[0]!, (label) => {
    const part = finderOf(asked.rows)(label);
    return part === undefined ? undefined : [part, (text) => readPart(asked, part, text, context)];
  });
  return 'problem' in read ? read : { value: read.value };
}

type PairReader = (label: string) => [id: string, read: (value: string) => CellRead] | undefined;

function readPairs(pairs: readonly (readonly [string, string])[], readerOf: PairReader): CellRead {
  const answer: Record<string, unknown> = {};
  for (const [label, text] of pairs) {
    const [id, readValue] = readerOf(label) ?? [];
    if (id === undefined || !readValue) return { problem: `"${label}" is not a question of this form.` };
    if (own(answer, id) !== undefined) return { problem: `"${label}" is there twice.` };
    const read = readValue(text);
    if ('problem' in read) return { problem: `${label}: ${read.problem}` };
    if (read.value !== undefined) answer[id] = read.value;
  }
  return { value: answer };
}

/** A choice with a column of its own: whether it was chosen, its rank, or the text of an answer besides the options. */
export type ChoiceCell = { readonly option: string; readonly rank?: number } | { readonly other: string };

/**
 * Returns what the column of one choice says: its own text, yes or no, in a ranking its place; undefined where it was not chosen.
 */
export function readChoiceCell(
  question: ImportQuestion,
  option: string,
  cell: Cell,
): { value: ChoiceCell | undefined } | { problem: string } {
  if (isBlankCell(cell)) return { value: undefined };
  const flag = readFlag(cell);
  if (question.input && kindOf(question.input) === 'order') {
    const rank = Number(plain(String(cell)));
    return Number.isInteger(rank) && rank > 0
      ? { value: { option, rank } }
      : { problem: 'A rank is a whole number from 1.' };
  }
  if (flag === false) return { value: undefined };
  if (option === otherChoice)
    return flag === true
      ? { problem: 'The text of the other answer is missing.' }
      : { value: { other: String(cell).trim() } };
  if (flag === true || finderOf(question.options)(String(cell)) === option) return { value: { option } };
  return { problem: `"${String(cell).slice(0, 100)}" does not say whether this was chosen.` };
}

/** Returns the choices of several columns as one answer, ranked ones in the order of their ranks, each of which is there once. */
export function joinChoices(chosen: readonly ChoiceCell[]): CellRead {
  const ranks = chosen.flatMap((cell) => ('rank' in cell && cell.rank !== undefined ? [cell.rank] : []));
  if (new Set(ranks).size < ranks.length) return { problem: 'Two options have one rank.' };
  const sorted = chosen.toSorted((a, b) => rankOf(a) - rankOf(b));
  return { value: sorted.map((each) => ('other' in each ? each.other : each.option)) };
}

const rankOf = (cell: ChoiceCell): number => ('rank' in cell ? (cell.rank ?? 0) : 0);
