import { factOf } from '#ast/fact-of.ts';
import { takesOther } from '#ast/tree.ts';
import { parseList } from '../list-cell.ts';
import { finderOf, type ImportQuestion } from './questions.ts';

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
export function readChoices(question: ImportQuestion, text: string, isOwn: boolean): CellRead {
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
