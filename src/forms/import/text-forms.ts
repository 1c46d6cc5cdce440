import { type CsvRecord, readCsv } from '#ast/basics/csv.ts';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { type ElementType, elementDefinitions } from '#ast/form/elements.ts';
import { type GuessedQuestion, guessAnswerType, guessQuestion } from './guess-question.ts';
import { newTexts, type Texts } from './imported-texts.ts';
import { addNode, addStep, createNode, type Sketch, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

/* Forms that people write as text: one question per line, or a table whose first line has the questions. */

type TextDocument = Readonly<Record<string, unknown>>;

/** A form has fewer lines, even with blank ones between all questions and options. */
const mostLines = 20_000;

/**
 * Converts plain text to a document: its lines, so that the report can name each. Returns a string with the
 * reason if it is too long.
 */
export function documentOfLines(text: string): TextDocument | string {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/, mostLines + 1);
  if (lines.length > mostLines)
    return `The text has more than ${formatWholeNumber(mostLines)} lines. Import it in parts.`;
  return { lines: lines.map((line) => ({ text: line.replaceAll(/[\t\u00A0]/g, ' ').trimEnd() })) };
}

/** The number of lines below the heading that are read to find out what a column contains. */
const sampleRows = 50;
/** A longer line or cell is cut, because patterns are slow on long texts and no label is that long. */
const mostCharacters = 2_000;

/** Reads CSV to convert it, or to find out whether it is CSV. */
export const readTable = (text: string) => readCsv(text, sampleRows + 1);
type Table = ReturnType<typeof readTable>;

/** Converts CSV to a document: its columns. Returns a string with the reason if it is not valid CSV. */
export function documentOfCsv(read: Table): TextDocument | string {
  if (!read.ok) return read.problem;
  const [head, ...rows] = read.records;
  if (!head) return 'The text is empty.';
  return {
    columns: head.cells.map((title, index) => ({
      title: title.slice(0, mostCharacters).trim(),
      values: rows
        .map(({ cells }) => (cells[index] ?? '').slice(0, mostCharacters).trim())
        .filter((value) => value !== ''),
    })),
    rows: read.total - 1,
  };
}

/** Whether a line with commas is a sentence: with spaces after them and a mark at its end. */
const isSentence = ({ cells: [_first, ...cells] }: CsvRecord): boolean =>
  cells.every((cell) => cell.startsWith(' ')) && /[?!.]$/.test(cells.at(-1)?.trimEnd() ?? '');

/** Whether a text is a table: every line has as many cells as the first one, and none is a list item. */
export function isTable(text: string, read: Table): boolean {
  const [head, ...rows] = read.ok ? read.records : [];
  if (!head || head.cells.length < 2 || head.cells.some((cell) => cell.trim() === '')) return false;
  const lines = text.split(/[\r\n]+/);
  if (lines.some((line) => /^\s*(?:#|[-*•]\s)/u.test(line))) return false;
  // A heading can end with a mark too, but then the lines below it are no sentences.
  if (isSentence(head) && (rows.length === 0 || rows.some(isSentence))) return false;
  if (rows.length > 0) return rows.every(({ cells }) => cells.length === head.cells.length);
  return head.cells.every((cell) => cell.length <= longestHeading);
}

/** A longer cell of a single line is not a heading. */
const longestHeading = 80;

const bullet = /^\s*(?:[-*•◦▪●○–—](?![-*])|\[[ xX]?\]|\( ?\)|☐)\s*(?=\S)/u;
const box = /^\s*(?:[-*•]\s*)?(?:\[[ xX]?\]|☐)/u;
const separatorLine = /^\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$/u;
/** An option that stands for any other answer. */
const otherOption =
  /^other(?:\s*[:…]|\s*\.{3}|\s*_{2,}|\s*\((?:please )?(?:specify|explain|describe).*\)).*$/iu;

const textOf = (part: SourcePart, name = 'text'): string => (part.text(name) ?? '').slice(0, mostCharacters);

/** A question and the lines below it. */
type Block = { readonly line: SourcePart; readonly text: string; readonly options: SourcePart[] };

/**
 * Reads a form that is written as lines: `# Step`, a question per line, its options below it with `-` or `*`,
 * and `*` at the end of a required question.
 */
export function readLines(root: SourcePart, sketch: Sketch): void {
  const texts = newTexts(sketch);
  const lines = root.list('lines').map((line) => ({ line, text: textOf(line) }));
  const filled = lines.filter(({ text }) => text.trim() !== '' && !separatorLine.test(text));
  // A list without a question above it is a list of questions.
  const isList = filled.every(({ text }) => bullet.test(text) || text.startsWith('#'));
  let step: SketchNode | undefined;
  let block: Block | undefined;
  const finish = (): void => {
    if (block) addQuestion(block, (step ??= addStep(sketch)), sketch, texts);
    block = undefined;
  };
  for (const { line, text } of lines) {
    const heading = /^\s*#+\s*(.*)$/u.exec(text);
    if (heading || separatorLine.test(text)) {
      finish();
      step = addStep(sketch, line);
      const title = texts.write(line, heading?.[1]?.replace(/\s*#+\s*$/u, '') ?? '', formLimits.labelBytes);
      if (title !== '') step.attrs['title'] = title;
      line.map('step');
    } else if (!isList && bullet.test(text)) {
      if (block) block.options.push(line);
      else line.leaveOut('An option must be below its question.');
    } else if (text.trim() !== '') {
      finish();
      const question = isList ? text.replace(bullet, '') : text;
      if (/[\p{L}\p{N}]/u.test(question)) block = { line, text: question, options: [] };
      else line.leaveOut('This line has no words.');
    }
  }
  finish();
}

function addQuestion({ line, text, options }: Block, step: SketchNode, sketch: Sketch, texts: Texts): void {
  const guessed = guessQuestion(text);
  const hasBoxes = options.length > 0 && options.every((option) => box.test(textOf(option)));
  const type = typeWithOptions(guessed, options.length > 0, hasBoxes);
  const node = addElement(line, { ...guessed, type }, step, sketch, texts);
  if (options.length === 0) {
    if (guessed.hint && choiceTypes.has(guessed.hint))
      line.change('There are no options below this question, so it became a question with free text.');
    return;
  }
  const labels = new Map(
    options.map((option) => {
      const text = textOf(option)
        .replace(bullet, '')
        .replace(/^\[[ xX]?\]\s*/u, '');
      return [option, texts.write(option, text, formLimits.labelBytes)];
    }),
  );
  const others = options.filter((option) => canHaveOther.has(type) && otherOption.test(labels.get(option)!));
  for (const option of others) option.map('another answer');
  if (others.length > 0) node.attrs['other'] = true;
  const listed = options.filter((option) => !others.includes(option));
  const ids = texts.setOptions(node, 'options', listed, (option) => ({ label: labels.get(option) }));
  for (const option of ids.keys()) option.map('option');
}

const choiceTypes: ReadonlySet<ElementType> = new Set(['radio', 'dropdown', 'multiple_choice', 'ranking']);
const canHaveOther: ReadonlySet<ElementType> = new Set(['radio', 'dropdown', 'multiple_choice']);

function typeWithOptions(
  { hint, type }: GuessedQuestion,
  hasOptions: boolean,
  hasBoxes: boolean,
): ElementType {
  if (!hasOptions)
    return hint === undefined || choiceTypes.has(hint) ? (choiceTypes.has(type) ? 'text' : type) : hint;
  if (hint !== undefined && choiceTypes.has(hint)) return hint;
  return hasBoxes ? 'multiple_choice' : 'radio';
}

/** Reads a table: each heading is a question, and the values below show what kind of answer it has. */
export function readColumns(root: SourcePart, sketch: Sketch): void {
  const texts = newTexts(sketch);
  const step = addStep(sketch);
  for (const column of root.list('columns')) {
    const title = textOf(column, 'title');
    const values = column.list('values').map((value) => value.text() ?? '');
    if (!/[\p{L}\p{N}]/u.test(title)) {
      column.leaveOut('The column has no heading.');
      continue;
    }
    const guessed = guessQuestion(title);
    const preferred = guessed.hint && !choiceTypes.has(guessed.hint) ? guessed.hint : guessed.type;
    const { type, options } = guessAnswerType(preferred, values) ?? { type: preferred };
    const node = addElement(column, { ...guessed, type }, step, sketch, texts);
    if (options)
      node.attrs['options'] = options.map((each) => texts.write(column, each, formLimits.labelBytes));
  }
  const rows = root.number('rows') ?? 0;
  if (rows > 0)
    root
      .part('rows')
      .leaveOut(
        `Only the headings become questions. After you publish the form, import the ${rows === 1 ? 'line' : `${formatWholeNumber(rows)} lines`} below them as submissions.`,
      );
}

type Question = Pick<GuessedQuestion, 'label' | 'isRequired' | 'type'>;

function addElement(
  part: SourcePart,
  { label, isRequired, type }: Question,
  step: SketchNode,
  sketch: Sketch,
  texts: Texts,
): SketchNode {
  const words = texts.write(part, label, formLimits.labelBytes);
  const node = createNode(type, {
    id: sketch.newId(undefined, words),
    label: words,
    required: isRequired || undefined,
    ...(type === 'consent' && { label: elementDefinitions.consent.title, statement: words }),
  });
  addNode(sketch, step, node, part);
  return node;
}
