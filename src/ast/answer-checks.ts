import { type AnswerKind, elements } from './elements.ts';
import { limits } from './limits.ts';
import { sayBytes } from './problems.ts';
import { fitsBytes, isCleanText } from './text.ts';
import { type InputElement, isRequired, optionsOf } from './tree.ts';

/** The answer of one input, files aside. */
export type PlainAnswer = string | number | boolean | string[];

/** What a check says: the answer to store (`undefined` when left blank), or the problem. */
export type CheckedAnswer<Answer> =
  | { readonly ok: true; readonly value: Answer | undefined }
  | { readonly ok: false; readonly problem: string };

/** Nothing was answered: absent, null, white space only, or an empty list (DESIGN 4.10). */
export function isBlank(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** The result for a blank answer: fine when the input is optional. */
export function checkBlank(input: InputElement): CheckedAnswer<never> {
  return isRequired(input) ? refuse('an answer is required.') : { ok: true, value: undefined };
}

/**
 * Checks one raw value for one input by the kind of its answer (DESIGN 4.10).
 * A problem completes the sentence "<label>: ..." and says what to do.
 */
export function checkAnswer(input: InputElement, value: unknown): CheckedAnswer<PlainAnswer> {
  return isBlank(value) ? checkBlank(input) : checks[kindOf(input)](input, value);
}

/** The kind of answer an input takes. */
export function kindOf(input: InputElement): AnswerKind {
  return elements[input.type].answer.kind;
}

type Check = (input: InputElement, value: unknown) => CheckedAnswer<PlainAnswer>;

const checks: Record<AnswerKind, Check> = {
  text: checkText,
  number: (_input, value) =>
    // Adding zero turns -0, which JSON does not keep, into 0.
    typeof value === 'number' && Number.isFinite(value)
      ? accept(value + 0)
      : refuse('enter a number like 3.5.'),
  boolean: (_input, value) => (typeof value === 'boolean' ? accept(value) : refuse('answer yes or no.')),
  choice: (input, value) =>
    typeof value === 'string' && optionsOf(input).includes(value)
      ? accept(value)
      : refuse('choose one of the listed options.'),
  choices: checkChoices,
  // Only the upload itself says what a file is; a client must not name one by hand.
  files: () => refuse('send the file itself, as a part of a multipart/form-data request.'),
};

function checkText(input: InputElement, value: unknown): CheckedAnswer<PlainAnswer> {
  const { answer } = elements[input.type];
  if (answer.kind !== 'text' || typeof value !== 'string') return refuse('write the answer as text.');
  const text = answer.format.tidy(value);
  if (!isCleanText(text))
    return refuse('remove the characters that cannot be stored (NUL, half a surrogate pair).');
  if (!fitsBytes(text, limits.answerBytes)) {
    return refuse(`shorten the answer to at most ${sayBytes(limits.answerBytes)}.`);
  }
  return answer.format.accepts(text) ? accept(text) : refuse(answer.format.remedy);
}

function checkChoices(input: InputElement, value: unknown): CheckedAnswer<PlainAnswer> {
  const problem = 'choose from the listed options, each at most once.';
  if (!Array.isArray(value)) return refuse(problem);
  const options = new Set(optionsOf(input));
  // Deleting what was chosen refuses unknown options and repeated ones alike.
  return value.every((choice) => options.delete(choice)) ? accept([...value]) : refuse(problem);
}

function accept<Answer>(value: Answer): CheckedAnswer<Answer> {
  return { ok: true, value };
}

function refuse(problem: string): CheckedAnswer<never> {
  return { ok: false, problem };
}
