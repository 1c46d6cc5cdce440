import { getProperty } from '#ast/basics/json.ts';
import { isBlank } from '#ast/basics/text.ts';
import { findInput, indexQuestionsById, type RawAnswers } from '#ast/form/fields.ts';
import {
  type Element,
  type Form,
  isAnsweredByVisitor,
  isComposite,
  isInput,
  isRepeatable,
  isSkipped,
  listQuestions,
} from '#ast/form/tree.ts';
import type { EvaluationContext } from '#ast/logic/evaluate.ts';
import { type FormAddressParameters, readPrefill } from './address.ts';

/** A form with skipped questions, their raw answers, and a URL that repeats these answers. */
export type SkippingForm = {
  readonly form: Form;
  readonly skipped: RawAnswers;
  readonly address: FormAddressParameters;
};

/**
 * Skips the questions outside of rows that the URL or the invitation answers with valid values. Each post repeats
 * the answers in its URL, or has the invitation, so the page has no controls for them.
 * @param shown the HTML names of questions that are shown all the same, because they have errors.
 */
export function skipPrefilledQuestions(
  form: Form,
  address: FormAddressParameters,
  context: EvaluationContext,
  shown: readonly string[] = [],
): SkippingForm {
  const { raw } = readPrefill(form, address, context);
  const skipped = Object.fromEntries(
    Object.entries(raw).filter(([id, answer]) => !isBlank(answer) && !shown.includes(id)),
  );
  const questions = indexQuestionsById(listQuestions(form));
  const carried = address.prefill.filter(([name]) => {
    if (address.invited?.includes(name)) return false;
    const { input, row } = findInput(questions, name) ?? {};
    return input !== undefined && !row && getProperty(skipped, input.attrs.id) !== undefined;
  });
  return { form: markSkipped(form, skipped), skipped, address: { ...address, carried } };
}

/** Marks exactly the inputs that have one of the answers as skipped. */
function markSkipped(form: Form, skipped: RawAnswers): Form {
  const mark = (element: Element): Element => {
    if (isComposite(element))
      return isRepeatable(element) ? element : { ...element, children: element.children.map(mark) };
    if (!isInput(element)) return element;
    const isNow = getProperty(skipped, element.attrs.id) !== undefined && isAnsweredByVisitor(element);
    if (isNow === isSkipped(element)) return element;
    const attrs = { ...element.attrs, isSkipped: isNow };
    return { ...element, attrs } as Element;
  };
  return { ...form, children: form.children.map((step) => ({ ...step, children: step.children.map(mark) })) };
}
