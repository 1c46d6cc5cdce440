import { fieldName, findInput, questionsById } from '#ast/fields.ts';
import { isOffered } from '#ast/logic/offers.ts';
import {
  type Form,
  type InputElement,
  isInput,
  isSeen,
  listQuestions,
  type PlacedElement,
  walkElements,
} from '#ast/tree.ts';
import { resultsOf } from '#page/render/elements/results.ts';
import type { TrialLook } from './trial.ts';

/**
 * Shows, hides and requires what the answers decide while they are given, as the page's own script does it, and notes
 * what the visitor has seen by that.
 */
export function showLogic(form: Form, page: HTMLFormElement, look: TrialLook): void {
  const { shown, seen, isLast, progress } = look;
  for (const placed of walkElements(form)) {
    const { element, path, group } = placed;
    const boxes = page.querySelectorAll<HTMLElement>(`[data-path="${path.join('.')}"]`);
    for (const [index, box] of boxes.entries())
      box.hidden = !isSeen(element) || !shown.isShown(element, group && { group, index });
    if (isInput(element) && element.attrs.require_when) showRequired(page, look, element, placed);
  }
  offerOptions(form, page, look);
  for (const { name, text } of resultsOf(
    form,
    look,
    (group) => page.querySelectorAll(`[id="${group.attrs.id}"] > .one_row`).length,
  )) {
    const output = page.querySelector(`output[id="${CSS.escape(name)}"]`);
    if (output) output.textContent = text;
  }
  const button = (go: string) => page.querySelector<HTMLElement>(`.actions [value="${go}"]`);
  button('next')?.toggleAttribute('hidden', isLast);
  button('submit')?.toggleAttribute('hidden', !isLast);
  const text = page.querySelector('#_progress p');
  if (text) text.textContent = progress;
  noteSeen(page, seen);
}

/** The word beside the label, in every row that the page has. */
function showRequired(
  page: HTMLFormElement,
  { shown }: TrialLook,
  element: InputElement,
  { group }: PlacedElement,
): void {
  for (let index = 0; ; index += 1) {
    const row = group && { group, index };
    const control = page.querySelector(`[name="${CSS.escape(fieldName(element, row))}"]`);
    const mark = control?.closest('.field')?.querySelector<HTMLElement>('.mark');
    if (mark) mark.hidden = !shown.isRequired(element, row);
    if (!control || !row) return;
  }
}

/** The options that are offered; what was chosen of the others is chosen no longer. */
function offerOptions(form: Form, page: HTMLFormElement, { shown }: TrialLook): void {
  const questions = questionsById(listQuestions(form));
  for (const control of page.querySelectorAll<HTMLInputElement | HTMLOptionElement>('[data-offer]')) {
    const select = control.closest('select');
    const found = findInput(questions, select?.name ?? (control as HTMLInputElement).name);
    const isIn = found !== undefined && isOffered(found.input, control.value, shown.holds, found.row);
    const box = select ? control : control.closest('label')!;
    box.hidden = !isIn;
    control.disabled = !isIn || control.dataset['offer'] === 'full';
    if (!isIn) Object.assign(control, { [select ? 'selected' : 'checked']: false });
  }
}

function noteSeen(page: HTMLFormElement, seen: Iterable<string>): void {
  for (const old of page.querySelectorAll('input[name="_seen"]')) old.remove();
  for (const mark of seen) {
    const input = page.ownerDocument.createElement('input');
    Object.assign(input, { type: 'hidden', name: '_seen', value: mark });
    page.append(input);
  }
}
