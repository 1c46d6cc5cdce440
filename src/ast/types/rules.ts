import type { autofillTokens } from '../basics/autofill-tokens.ts';
import type { WorkBudget } from '../basics/work.ts';
import type { FormulaAnswers } from '../logic/formula/run.ts';
import type { FileRules } from '../rules/check-files.ts';
import type { RuleContext } from '../rules/check-rules.ts';
import type { BrokenRule, RuleName } from '../rules/problem.ts';
import type { TextFormat } from '../rules/text-formats.ts';

/** The kind of an answer. Several element types can share a kind (docs/rules.md 10). */
export type AnswerKind =
  | 'text'
  | 'moment'
  | 'number'
  | 'boolean'
  | 'choice'
  | 'choices'
  | 'order'
  | 'grid'
  | 'consent'
  | 'files';

/** The kinds whose values a page sends as a list, by repeating one name. */
export type ListKind = 'choices' | 'order';
export const isListKind = (kind: AnswerKind): kind is ListKind => kind === 'choices' || kind === 'order';

/** Returns whether answers of a kind are chosen options. */
export const isChoiceKind = (kind: AnswerKind): boolean =>
  kind === 'choice' || kind === 'grid' || isListKind(kind);

/** The range of whole numbers of a question on a scale, inclusive. */
export type Levels = { readonly from: number; readonly to: number };

/** The answer of a matrix: the chosen options of each answered row, by row ID. */
export type GridAnswer = { [row: string]: string | string[] };

/**
 * The answer of a consent: the text as the visitor read it, the version of its form, and the time (ISO 8601,
 * UTC). Version and time are added when it is stored (answers/stamp-consents.ts).
 */
export type ConsentAnswer = { agreed: true; text: string; version?: number; at?: string };

/** The answer of one input, except for files. */
export type PlainAnswer = string | number | boolean | string[] | GridAnswer | ConsentAnswer;

/** A file made from a text answer. */
type FileFromText = {
  readonly filename: string;
  readonly content_type: string;
  readonly text: string;
};

/** The result of a check: the answer to store, or the rule that the answer breaks. */
export type CheckedAnswer<Answer = PlainAnswer> =
  | { readonly ok: true; readonly value: Answer }
  | { readonly ok: false; readonly broken: BrokenRule };

/** The answer to one row of a question, like the answer to a single question. */
export type RowAnswer = { readonly kind: 'choice' | 'choices'; readonly value: unknown };

/** What answer checks know about an input type. The page's script uses it, so it has no titles. */
export type InputRules<Attrs = never> = {
  readonly kind: AnswerKind;
  /** How a text is tidied and checked. */
  readonly format?: TextFormat;
  /** Tidies other answers, before the check for a blank answer. */
  readonly tidy?: (value: unknown, work: WorkBudget, attrs: Attrs) => unknown;
  /** The name under which several types share sentences, such as `choice` in `required.choice`. */
  readonly noun?: string;
  /** The autofill token of the type, if nothing more specific is known. */
  readonly autofill?: (typeof autofillTokens)[number];
  /** Whether visitors are never asked for the answer: the input has no control and is not shown. */
  readonly isUnasked?: true;
  /** For types with files: rules that apply to every form. */
  readonly files?: FileRules;
  /** For types with files: makes a file from a text, or returns undefined if the text is too long. */
  readonly writeFile?: (text: string) => FileFromText | undefined;
  /** For questions on a scale: the range of levels. */
  readonly levels?: (attrs: Attrs) => Levels;
  /**
   * For calculated types: the answer computed from the others, which replaces a sent value.
   * @throws TooMuchWork
   */
  readonly calculate?: (attrs: Attrs, answers: FormulaAnswers) => number | undefined;
  /** For questions with rows: the answer to one row. */
  readonly row?: (answer: unknown, row: string) => RowAnswer;
  /** For lists of choices: whether only one is allowed. The answer is still a list. */
  readonly takesOne?: (attrs: Attrs) => boolean;
  /** Formats a number, if the type does not use the default. */
  readonly formatNumber?: (attrs: Attrs, value: number, numberLocale: string) => string;
  /**
   * Checks a tidied, non-blank value by the type and the author's rules.
   * @throws TooMuchWork
   */
  readonly check: (attrs: Attrs, value: unknown, context: RuleContext) => CheckedAnswer;
  /** Returns what a valid answer to a required question still lacks. */
  readonly lacks?: (attrs: Attrs, answer: never) => BrokenRule | undefined;
};

/** The cost of a check, in steps of work (work.ts). */
export const checkCosts = { answer: 40, character: 0.25 } as const;

export function toCheckedAnswer<Answer>(
  value: Answer,
  broken: BrokenRule | undefined,
): CheckedAnswer<Answer> {
  return broken ? { ok: false, broken } : acceptAnswer(value);
}

export function acceptAnswer<Answer>(value: Answer): CheckedAnswer<Answer> {
  return { ok: true, value };
}

export function refuseAnswer(rule: RuleName): CheckedAnswer<never> {
  return { ok: false, broken: { rule } };
}
