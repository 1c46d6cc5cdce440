import { fillTemplate } from '../basics/words.ts';
import { englishSentences } from './sentences.ts';

export type RuleName = keyof typeof englishSentences;

/** The values in a sentence: a limit, the name of a file. */
export type ProblemValues = Readonly<Record<string, string | number>>;

/** A rule that the answer to an input breaks. */
export type BrokenRule = { readonly rule: RuleName; readonly values?: ProblemValues };

/**
 * A problem with an answer, before it is formatted as a sentence. `label` is empty if it belongs to no
 * question. `custom` is the author's own sentence (`error_message`), which replaces the standard one. `about`
 * is the element's type, or `name` if the visitor's own name is asked for.
 */
export type AnswerProblem = BrokenRule & {
  readonly label: string;
  readonly custom?: string;
  readonly about?: string;
};

/** The values of `{example}` in the sentences. */
const examples: ProblemValues & Partial<Record<RuleName, string | number>> = {
  number: 3.5,
  date: '2026-01-31',
  time: '14:30',
  datetime: '2026-01-31T14:30',
};

/**
 * Formats the problem as an English sentence for API clients, with unformatted values. The page uses other
 * sentences for visitors (src/page/words/format-problem.ts). Never throws. Inserted text is not parsed for
 * placeholders.
 */
export function formatProblem({ rule, label, custom, values }: AnswerProblem): string {
  const sentence = custom ? `{label}: {custom}` : englishSentences[rule];
  // A label can already end in punctuation.
  const text = /[?!.:]$/.test(label) ? sentence.replace('{label}:', '{label}') : sentence;
  return fillTemplate(text, { example: examples[rule] ?? '', ...values, label, ...(custom && { custom }) });
}
