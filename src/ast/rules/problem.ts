import { fill } from '../basics/words.ts';
import { englishSentences } from './sentences.ts';

/** Every rule that an answer can break. */
export type RuleName = keyof typeof englishSentences;

/** The values that a sentence names: a limit, the name of a file. */
export type ProblemValues = Readonly<Record<string, string | number>>;

/** A rule that an input's answer breaks. */
export type BrokenRule = { readonly rule: RuleName; readonly values?: ProblemValues };

/**
 * One problem of an answer, before it is said to somebody. `label` is empty when no question has the problem;
 * `custom` is the author's own sentence (`error_message`), which replaces every other one. `about` says what is asked
 * for: the element's type, or `name` where that is clear to be the visitor's own.
 */
export type AnswerProblem = BrokenRule & {
  readonly label: string;
  readonly custom?: string;
  readonly about?: string;
};

/** What the sentences show as `{example}`. */
const examples: ProblemValues & Partial<Record<RuleName, string | number>> = {
  number: 3.5,
  date: '2026-01-31',
  time: '14:30',
  datetime: '2026-01-31T14:30',
};

/**
 * The problem as a sentence for programs, in English, with its values as programs write them; a page says it to its
 * visitor in other words (src/page/words/say-problem.ts). Never throws; text from the form is put in once and not read
 * again.
 */
export function sayProblem({ rule, label, custom, values }: AnswerProblem): string {
  const sentence = custom ? `{label}: {custom}` : englishSentences[rule];
  // A label may end in a mark of its own.
  const said = /[?!.:]$/.test(label) ? sentence.replace('{label}:', '{label}') : sentence;
  return fill(said, { example: examples[rule] ?? '', ...values, label, ...(custom && { custom }) });
}
