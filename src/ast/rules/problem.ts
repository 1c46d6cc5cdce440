import { fill } from '../words.ts';
import type { englishSentences } from './sentences.ts';

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

/** The problem as a sentence of plain text. Never throws; text from the form is put in once and not read again. */
export function sayProblem(problem: AnswerProblem, sentences: ProblemSentences): string {
  const { rule, label, custom, values } = problem;
  if (custom) return `${label}: ${custom}`;
  return fill(sentences[rule], { ...values, label });
}
