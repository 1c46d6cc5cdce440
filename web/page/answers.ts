import type { AnswerError } from '#ast/answers/check-answers.ts';
import { checkStep } from '#ast/answers/check-step.ts';
import { newWork } from '#ast/basics/work.ts';
import { type RawAnswers, readFields } from '#ast/form/fields.ts';
import { type AnswerContext, evaluate, type Shown } from '#ast/logic/evaluate.ts';
import type { FileFacts } from '#ast/rules/check-files.ts';
import type { RuleName } from '#ast/rules/problem.ts';
import { restoreRows } from '#page/render/elements/rows.ts';
import { sayToVisitor } from '#page/words/say-problem.ts';
import { heldOf, unsentOf } from './held-list.ts';
import { byId, type Page } from './page.ts';

/** A problem of a field by its HTML name, in the visitor's language. */
export type FieldError = Pick<AnswerError, 'field' | 'message'>;

/** A problem that was found here, with the rule that is broken. */
type FoundError = FieldError & { readonly rule: RuleName };

/** A file that is only chosen yet, by the HTML name of its field. */
type ChosenFile = readonly [field: string, file: FileFacts];

/** The names and texts of all controls, the page's own among them, as a post would carry them; files aside. */
export function entriesOf({ form }: Page): [name: string, value: string][] {
  return [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}

/** What the rules see of the page: raw answers, files that have arrived, and what else a condition may name. */
type Given = { raw: RawAnswers; files: Map<string, FileFacts[]>; context: AnswerContext };

export function readGiven(page: Page, chosen: readonly ChosenFile[] = []): Given {
  const { form, today, reference, singly } = page.data;
  // A date that the browser cannot read is blank in a post: to the rules it is a text that is none.
  const entries = entriesOf(page).map(([name, value]): [string, string] => [
    name,
    isUnread(name) ? '?' : value,
  ]);
  const { raw, extra } = readFields(form, entries);
  const files = new Map<string, FileFacts[]>();
  for (const [field, file] of [...heldOf(page.form), ...chosen]) {
    files.set(field, [...(files.get(field) ?? []), file]);
  }
  return {
    raw: restoreRows(form, raw, extra),
    files,
    context: { today, reference, work: newWork(), asksSingly: singly !== undefined },
  };
}

/** Whether the browser itself cannot read what stands in a control for a date or time. */
function isUnread(name: string): boolean {
  const control = byId(name);
  return control instanceof HTMLInputElement && control.validity.badInput;
}

/** What the form shows and requires now. */
export function evaluatePage(page: Page): Shown {
  const { raw, files, context } = readGiven(page);
  return evaluate(page.data.form, raw, context, files);
}

/** The problems of one step, as the server would say them; `chosen` files count as if they had arrived. */
export function findErrors(page: Page, step: number, chosen?: readonly ChosenFile[]): FoundError[] {
  const { raw, files, context } = readGiven(page, chosen);
  const { form } = page.data;
  const speech = { ...page.data, language: document.documentElement.lang };
  return checkStep(form, step, raw, files, context).map(({ field, problem }) => ({
    field,
    // The sentence that the server wrote for it names the format as the browser shows it.
    message: isUnread(field) ? byId(`unread~${field}`)!.textContent : sayToVisitor(problem, speech),
    rule: problem.rule,
  }));
}

/** The files of a step that did not arrive: one sentence for each field that the visitor sees and has to decide on. */
function findUnsent({ sections, data }: Page, step: number): FieldError[] {
  const waiting = unsentOf(sections[step]!).filter(
    ([, , item]) => item.querySelector('.error') && !item.closest('[hidden]:not(section)'),
  );
  return [...new Set(waiting.map(([input]) => input))].map((input) => ({
    field: input.name,
    message: data.words.fileUnsent,
  }));
}

/** What of a step a new page would lose: files that did not arrive, and what the browser itself cannot read. */
export function findLosses(page: Page, step: number): FieldError[] {
  return [...findUnsent(page, step), ...findErrors(page, step).filter(({ field }) => isUnread(field))];
}

/** All that is in the way of a step: a file that did not arrive is said before the rules of its field. */
export function findObstacles(page: Page, step: number): FieldError[] {
  const unsent = findUnsent(page, step);
  const rest = findErrors(page, step).filter(({ field }) => unsent.every((other) => other.field !== field));
  return [...unsent, ...rest];
}
