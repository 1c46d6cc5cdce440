import type { AnswerError } from '#ast/answers/check-answers.ts';
import { checkStep } from '#ast/answers/check-step.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import { parseRawAnswers, type RawAnswers } from '#ast/form/fields.ts';
import { type EvaluationContext, evaluateVisibility, type VisibleParts } from '#ast/logic/evaluate.ts';
import type { FileFacts } from '#ast/rules/check-files.ts';
import type { RuleName } from '#ast/rules/problem.ts';
import { restoreRows } from '#page/render/elements/rows.ts';
import { formatProblemForVisitor } from '#page/words/format-problem.ts';
import { listUnsentFiles, listUploadedFiles } from './file-list.ts';
import { byId, type Page } from './page.ts';

/** An error of a field, by its HTML name, in the visitor's language. */
export type FieldError = Pick<AnswerError, 'field' | 'message'>;

/** An error found by this script, with the rule that was broken. */
type FoundError = FieldError & { readonly rule: RuleName };

/** A chosen file that is not uploaded yet, by the HTML name of its field. */
type ChosenFile = readonly [field: string, file: FileFacts];

/**
 * Lists the names and values of all controls as posting the form would, including the page's own controls,
 * but without files.
 */
export function formEntriesOf({ form }: Page): [name: string, value: string][] {
  return [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}

/** The input of validation: raw answers, uploaded files, and the context of conditions. */
type ValidationInput = { raw: RawAnswers; files: Map<string, FileFacts[]>; context: EvaluationContext };

export function readValidationInput(page: Page, chosen: readonly ChosenFile[] = []): ValidationInput {
  const { form, today, reference, singly, skipped } = page.data;
  // The browser posts nothing for a date that it cannot parse. A placeholder value makes validation report
  // it.
  const entries = formEntriesOf(page).map(([name, value]): [string, string] => [
    name,
    isUnread(name) ? '?' : value,
  ]);
  const { raw, extra } = parseRawAnswers(form, entries);
  const files = new Map<string, FileFacts[]>();
  for (const [field, file] of [...listUploadedFiles(page.form), ...chosen])
    files.set(field, [...(files.get(field) ?? []), file]);
  return {
    raw: { ...skipped, ...restoreRows(form, raw, extra) },
    files,
    context: { today, reference, work: createWorkBudget(), asksSingly: singly !== undefined },
  };
}

/** Whether the browser cannot parse the value of a control for a date or time. */
function isUnread(name: string): boolean {
  const control = byId(name);
  return control instanceof HTMLInputElement && control.validity.badInput;
}

/** Evaluates what the form shows and requires now. */
export function evaluatePage(page: Page): VisibleParts {
  const { raw, files, context } = readValidationInput(page);
  return evaluateVisibility(page.data.form, raw, context, files);
}

/** Returns the errors of one step in the server's wording. `chosen` files count as uploaded. */
export function findStepErrors(page: Page, step: number, chosen?: readonly ChosenFile[]): FoundError[] {
  const { raw, files, context } = readValidationInput(page, chosen);
  const { form } = page.data;
  const formats = { ...page.data, language: document.documentElement.lang };
  return checkStep(form, step, raw, files, context).map(({ field, problem }) => ({
    field,
    // The server rendered this message with the browser's date format as an example.
    message: isUnread(field)
      ? byId(`unread~${field}`)!.textContent
      : formatProblemForVisitor(problem, formats),
    rule: problem.rule,
  }));
}

/** Returns an error for each visible field with files that were not uploaded. */
function findUnsent({ sections, data }: Page, step: number): FieldError[] {
  const waiting = listUnsentFiles(sections[step]!).filter(
    ([, , item]) => item.querySelector('.error') && !item.closest('[hidden]:not(section)'),
  );
  return [...new Set(waiting.map(([input]) => input))].map((input) => ({
    field: input.name,
    message: data.words.fileUnsent,
  }));
}

/**
 * Returns errors for everything that a page load would lose: files that were not uploaded, and values that
 * the browser cannot parse.
 */
export function findLostInputErrors(page: Page, step: number): FieldError[] {
  return [...findUnsent(page, step), ...findStepErrors(page, step).filter(({ field }) => isUnread(field))];
}

/**
 * Returns every error that keeps a visitor on a step. A missing upload takes precedence over other errors of
 * its field.
 */
export function findBlockingStepErrors(page: Page, step: number): FieldError[] {
  const unsent = findUnsent(page, step);
  const rest = findStepErrors(page, step).filter(({ field }) =>
    unsent.every((other) => other.field !== field),
  );
  return [...unsent, ...rest];
}
