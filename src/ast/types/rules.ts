import type { autofillTokens } from '../basics/autofill-tokens.ts';
import type { Work } from '../basics/work.ts';
import type { FormulaAnswers } from '../logic/formula/run.ts';
import type { FileRules } from '../rules/check-files.ts';
import type { RuleContext } from '../rules/check-rules.ts';
import type { BrokenRule, RuleName } from '../rules/problem.ts';
import type { TextFormat } from '../rules/text-formats.ts';
import type { NumberMarks } from '../rules/written-numbers.ts';

/** What an answer is; several element types may share a kind (docs/rules.md 10). */
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

/** The kinds of which a page posts several values under one name: the answer is a list of them. */
export type ListKind = 'choices' | 'order';
export const isList = (kind: AnswerKind): kind is ListKind => kind === 'choices' || kind === 'order';

/** The kinds of which options are chosen. */
export const isChosen = (kind: AnswerKind): boolean => kind === 'choice' || kind === 'grid' || isList(kind);

/** The whole numbers that a question on a scale takes, both ends among them. */
export type Levels = { readonly from: number; readonly to: number };

/** The answer of a matrix: what is chosen in each row that is answered, by the row's id. */
export type GridAnswer = { [row: string]: string | string[] };

/**
 * The answer of a consent: the text that was agreed to, as it was read, the version of the form that it was in, and when,
 * ISO 8601 in UTC. The last two are there as soon as it is stored (answers/stamp-consents.ts).
 */
export type ConsentAnswer = { agreed: true; text: string; version?: number; at?: string };

/** The answer of one input, files aside. */
export type PlainAnswer = string | number | boolean | string[] | GridAnswer | ConsentAnswer;

/** A file that is made of an answer. */
export type WrittenFile = { readonly filename: string; readonly content_type: string; readonly text: string };

/** What a check says: the answer to store, or the rule that it breaks. */
export type CheckedAnswer<Answer = PlainAnswer> =
  | { readonly ok: true; readonly value: Answer }
  | { readonly ok: false; readonly broken: BrokenRule };

/** The answer to one row of a question, as that of a question by itself. */
export type RowAnswer = { readonly kind: 'choice' | 'choices'; readonly value: unknown };

/**
 * What is known of an input type wherever its answers are checked, also in the page's script, which has no room for
 * titles and attributes.
 */
export type InputRules<Attrs = never> = {
  readonly kind: AnswerKind;
  /** How a text is tidied, and what form it has. */
  readonly format?: TextFormat;
  /** How another answer is tidied, before it is asked whether it is blank. */
  readonly tidy?: (value: unknown, work: Work, attrs: Attrs) => unknown;
  /** What sentences call it, where types share their words: `required.choice`. */
  readonly noun?: string;
  /** What a browser fills in that knows no more than the type. */
  readonly autofill?: (typeof autofillTokens)[number];
  /** Whether no visitor is asked for it: it has no control, and is no part of what is shown. */
  readonly isUnasked?: true;
  /** Of a type with files, what they must be whatever the form says. */
  readonly files?: FileRules;
  /** Of a type with files, the file that stands for a text which was sent in its place; none for one that is too long. */
  readonly writeFile?: (text: string) => WrittenFile | undefined;
  /** Of a question on a scale, the whole numbers that it takes. */
  readonly levels?: (attrs: Attrs) => Levels;
  /** Of what nobody is asked: its answer by the others, which stands in place of whatever was sent. @throws TooMuchWork */
  readonly calculate?: (attrs: Attrs, answers: FormulaAnswers) => number | undefined;
  /** Of a question in rows, what the answer to one of them is by itself. */
  readonly row?: (answer: unknown, row: string) => RowAnswer;
  /** Of several choices, whether only one is taken: the answer is a list all the same. */
  readonly takesOne?: (attrs: Attrs) => boolean;
  /** How a number is said, where that is not as every number is. */
  readonly say?: (attrs: Attrs, value: number, numbers: NumberMarks) => string;
  /** Checks a tidied value that is not blank, by the type and the author's rules. @throws TooMuchWork */
  readonly check: (attrs: Attrs, value: unknown, context: RuleContext) => CheckedAnswer;
  /** What a required answer that passed the check lacks, where to be there is not enough. */
  readonly lacks?: (attrs: Attrs, answer: never) => BrokenRule | undefined;
};

/** What a check costs, in the steps of work.ts. */
export const checkSteps = { answer: 40, character: 0.25 } as const;

export function conclude<Answer>(value: Answer, broken: BrokenRule | undefined): CheckedAnswer<Answer> {
  return broken ? { ok: false, broken } : accept(value);
}

export function accept<Answer>(value: Answer): CheckedAnswer<Answer> {
  return { ok: true, value };
}

export function refuse(rule: RuleName): CheckedAnswer<never> {
  return { ok: false, broken: { rule } };
}
