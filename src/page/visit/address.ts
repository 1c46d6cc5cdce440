import { checkAnswers } from '#ast/answers/check-answers.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { isBlank, normalizeText } from '#ast/basics/text.ts';
import {
  findInput,
  indexQuestionsById,
  isPageControlName,
  parseGroupFieldName,
  parseRawAnswers,
  type QuestionsById,
  type RawAnswers,
} from '#ast/form/fields.ts';
import type { InputType } from '#ast/form/input-rules.ts';
import { withPipedLabels } from '#ast/form/piping.ts';
import { answerKindOf, type Form, isSkipped, isVisibleToVisitors, listQuestions } from '#ast/form/tree.ts';
import type { EvaluationContext } from '#ast/logic/evaluate.ts';
import { type Guest, invitationParameter } from '#invitations/admission.ts';
import { ApiError } from '#kit/errors.ts';

/** The parsed parameters of a form's URL. */
export type FormAddressParameters = {
  /** Reference data, stored with the submission. */
  readonly reference: Readonly<Record<string, string>>;
  /** Prefilled answers as HTML fields, named like an input and not validated yet. */
  readonly prefill: readonly (readonly [name: string, value: string])[];
  /** The prefilled answers of skipped questions, which every post repeats. */
  readonly carried?: FormAddressParameters['prefill'];
  /** The names of the answers that the invitation prefills. They stay out of URLs. */
  readonly invited?: readonly string[];
  /** The page's own parameters: names that begin with `_`. */
  readonly own: ReadonlyMap<string, string>;
};

/**
 * Sorts the parameters of a URL. Parameters named like an input prefill it, those that begin with `_` are the
 * page's own, and all others are reference data. If a parameter is repeated, the first value counts. Answers
 * are the exception: all of them are validated.
 * @throws ApiError bad_request for a NUL.
 */
export function parseFormAddress(form: Form, address: string): FormAddressParameters {
  const reference = new Map<string, string>();
  const prefill: [string, string][] = [];
  const own = new Map<string, string>();
  const pairs = new URL(address, 'http://form').search.slice(1).split('&').filter(Boolean);
  // Most visitors have no parameters, so the questions are indexed only if there are any.
  if (pairs.length === 0) return { reference: {}, prefill, own };
  const questions = indexQuestionsById(listQuestions(form));
  for (const pair of pairs) {
    const { name, value } = readPair(pair, questions);
    if (`${name}${value}`.includes('\u0000'))
      throw new ApiError('bad_request', 'The URL contains a NUL character.');
    if (isPageControlName(questions, name)) setFirst(own, name, value);
    else if (findInput(questions, name) ?? questions.get(parseGroupFieldName(name)?.group ?? name))
      prefill.push([name, value]);
    else setFirst(reference, name, value);
  }
  return { reference: Object.fromEntries(reference), prefill, own };
}

/**
 * Decodes one parameter. People write `?phone=+49…` and `?email=a+b@…` with an unescaped plus, so it stays a
 * plus where a space makes no sense. Inside a phone number, a plus is a space, as `URLSearchParams` decodes
 * it.
 */
function readPair(pair: string, questions: QuestionsById): { name: string; value: string } {
  const [[sentName, sentValue] = ['', '']] = new URLSearchParams(pair);
  const name = normalizeText(sentName);
  const type = findInput(questions, name)?.input.type;
  const pluses = type && plusesBy[type];
  if (!pluses) return { name, value: normalizeText(sentValue) };
  const [, ...rest] = pair.split('=');
  const sent = rest.join('=').replaceAll(pluses, '%2B');
  return { name, value: normalizeText(new URLSearchParams(`=${sent}`).get('') ?? '') };
}

/** The pluses that stay a plus in an encoded value, by question type. */
const plusesBy: Partial<Readonly<Record<InputType, RegExp>>> = { phone: /^\+/g, email: /\+/g, url: /\+/g };

function setFirst(values: Map<string, string>, name: string, value: string): void {
  if (!values.has(name)) values.set(name, value);
}

/**
 * Returns the form's URL with the reference data, the answers of skipped questions, and the page's own
 * parameters, which every post includes.
 */
export function formatFormAddress(
  path: string,
  { reference, carried = [], own }: FormAddressParameters,
): string {
  const repeated = carried.map(([name, value]): [string, string] => [name, value]);
  const query = new URLSearchParams([...Object.entries(reference), ...repeated, ...own]).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** Returns the URL of the page in another language. */
export const addressInLanguage =
  (path: string, address: FormAddressParameters) =>
  (language: string): string =>
    formatFormAddress(path, { ...address, own: new Map([...address.own, ['_lang', language]]) });

/** Prefilled answers, and the labels of questions whose values were dropped. */
type Prefill = { readonly raw: RawAnswers; readonly leftOut: readonly string[] };

/** Validates prefilled answers like submitted ones, and drops only the invalid values. */
export function readPrefill(
  form: Form,
  { prefill }: FormAddressParameters,
  context: EvaluationContext,
): Prefill {
  if (prefill.length === 0) return { raw: {}, leftOut: [] };
  const questions = indexQuestionsById(listQuestions(withPipedLabels(form)));
  // Undecodable bytes are not an answer, and a link cannot give consent.
  const isAnswer = ([name, value]: readonly [string, string]): boolean => {
    const { input } = findInput(questions, name) ?? {};
    return !value.includes('\ufffd') && !(input && answerKindOf(input) === 'consent');
  };
  const { raw } = parseRawAnswers(form, prefill.filter(isAnswer));
  const leftOut = prefill.filter((entry) => !isAnswer(entry)).map(([name]) => name);
  const checked = checkAnswers(form, raw, new Map(), context);
  for (const { field } of checked.ok ? [] : checked.errors) {
    const part = parseGroupFieldName(field);
    const rows: unknown = part && raw[part.group];
    const row: unknown = Array.isArray(rows) ? rows[part!.index] : undefined;
    const [holder, id] = part && isRecord(row) ? [row, part.id] : [raw, field];
    // A missing answer is not an error of the prefill.
    if (isBlank(getProperty(holder, id))) continue;
    delete holder[id];
    leftOut.push(field);
  }
  const labels = leftOut.flatMap((name) => {
    const { input } = findInput(questions, name) ?? {};
    // Hidden questions are not reported to the visitor.
    return input && !isVisibleToVisitors(input) ? [] : [input?.attrs.label ?? name];
  });
  return { raw, leftOut: [...new Set(labels)] };
}

/**
 * Returns the answers of a post, with hidden and skipped questions prefilled from the URL if the body does not
 * name them. A visitor cannot clear such a question, so no entered answer is replaced.
 */
export function prefillHiddenAnswers(
  form: Form,
  address: FormAddressParameters,
  context: EvaluationContext,
  raw: RawAnswers,
): RawAnswers {
  if (address.prefill.length === 0) return raw;
  const questions = indexQuestionsById(listQuestions(form));
  const isHidden = ([name]: readonly [string, string]): boolean => {
    const { input, row } = findInput(questions, name) ?? {};
    return (
      input !== undefined &&
      (input.type === 'hidden' || isSkipped(input)) &&
      !row &&
      !Object.hasOwn(raw, input.attrs.id)
    );
  };
  const { raw: found } = readPrefill(
    form,
    { ...address, prefill: address.prefill.filter(isHidden) },
    context,
  );
  return { ...found, ...raw };
}

/**
 * Returns the URL for resuming saved answers. It includes the invitation, without which the form may not
 * open.
 */
export const resumeAddress = (path: string, token: string, guest: Guest | undefined): string =>
  `${path}/resume/${token}${guest ? `?${invitationParameter}=${guest.token}` : ''}`;

/** Returns the address to which a page posts to get its personal link by email. */
export const linkMailAddress = (link: string, { own }: Pick<FormAddressParameters, 'own'>): string =>
  formatFormAddress(`${new URL(link, 'http://form').pathname}/mail`, { reference: {}, prefill: [], own });
