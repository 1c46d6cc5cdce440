import { fill } from '../words.ts';
import type { englishSentences } from './sentences.ts';
import { type NumberMarks, plainMarks, writeNumber } from './written-numbers.ts';

/** Every rule that an answer can break. */
export type RuleName = keyof typeof englishSentences;

/** What a rule says, in one language. */
export type ProblemSentences = Readonly<Record<RuleName, string>>;

/** The values that a sentence names: a limit, the name of a file. */
export type ProblemValues = Readonly<Record<string, string | number>>;

/** A rule that an input's answer breaks. */
export type BrokenRule = { readonly rule: RuleName; readonly values?: ProblemValues };

/**
 * One problem of an answer, before it is said in a language. `label` is empty when no question has the problem;
 * `custom` is the author's own sentence (`error_message`), which replaces every other one.
 */
export type AnswerProblem = BrokenRule & { readonly label: string; readonly custom?: string };

/** What the sentences show as `{example}`, as programs write it: a page names what its visitor's browser shows. */
const examples: ProblemValues & Partial<Record<RuleName, string | number>> = {
  number: 3.5,
  date: '2026-01-31',
  time: '14:30',
  datetime: '2026-01-31T14:30',
};

/**
 * The problem as a sentence of plain text, with its numbers as the language writes them. Never throws; text from the
 * form is put in once and not read again.
 */
export function sayProblem(
  problem: AnswerProblem,
  sentences: ProblemSentences,
  numbers: NumberMarks = plainMarks,
): string {
  const { rule, label, custom, values } = problem;
  if (custom) return `${label}: ${custom}`;
  const said = Object.entries({ example: examples[rule] ?? '', ...values }).map(
    ([name, value]): [string, string] => [
      name,
      typeof value === 'number' ? writeNumber(value, numbers) : value,
    ],
  );
  return fill(sentences[rule], { ...Object.fromEntries(said), label });
}
