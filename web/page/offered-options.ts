import { toAnswerProblem } from '#ast/answers/fill.ts';
import {
  type ConditionTest,
  conditionalOptionFunctions,
  isOptionOffered,
} from '#ast/form/conditional-options.ts';
import { findInput, indexQuestionsById } from '#ast/form/fields.ts';
import { lazyConditionalOptionFunctions } from '#ast/form/lazy-conditional-options.ts';
import { type Form, type InputElement, listQuestions } from '#ast/form/tree.ts';
import { formatProblemForVisitor } from '#page/words/format-problem.ts';
import { evaluatePage } from './answers.ts';
import { createErrorFormatter, showFieldErrors } from './errors.ts';
import type { Page } from './page.ts';
import { updateShownStep } from './steps.ts';

/** A chosen option that is no longer offered, or that is offered again. */
type Changed = {
  readonly field: string;
  readonly input: InputElement;
  readonly label: string;
  readonly isOffered: boolean;
};

/** The controls of hidden options that were chosen, so that the choice can be restored. */
const hiddenChoices = new WeakSet<Element>();

/**
 * Shows the options that conditions offer and hides the others. A hidden option is deselected. When it is
 * offered again, it is selected again unless another option was chosen in the meantime. Returns the changed
 * options.
 */
function offerOptions(form: Form, page: HTMLFormElement, holds: ConditionTest): Changed[] {
  const questions = indexQuestionsById(listQuestions(form));
  const controls = page.querySelectorAll<HTMLInputElement | HTMLOptionElement>('[data-offer]');
  return [...controls].flatMap((control) => {
    // Compares names instead of using instanceof, which fails for elements of the builder's preview, because
    // that is another document.
    const isEntry = control.localName === 'option';
    const select = isEntry ? control.closest('select')! : undefined;
    const field = select?.name ?? (control as HTMLInputElement).name;
    const found = findInput(questions, field);
    const box = select ? control : control.closest('label')!;
    if (!found) return [];
    const isIn = isOptionOffered(found.input, control.value, holds, found.row);
    if (box.hidden !== isIn) return [];
    box.hidden = !isIn;
    control.disabled = !isIn || control.dataset['offer'] === 'full';
    const state = isEntry ? 'selected' : 'checked';
    const chosen = control as unknown as Record<typeof state, boolean>;
    const isChosen = chosen[state];
    if (!isIn && isChosen) hiddenChoices.add(control);
    else if (!isIn || !hiddenChoices.delete(control) || isReplaced(page, control, select)) return [];
    chosen[state] = isIn;
    return {
      field,
      input: found.input,
      label: (isEntry ? control : box.querySelector('span')!).textContent,
      isOffered: isIn,
    };
  });
}

/** Whether another option was chosen in the meantime, if only one can be chosen. */
function isReplaced(
  page: HTMLFormElement,
  control: HTMLInputElement | HTMLOptionElement,
  select: HTMLSelectElement | undefined,
): boolean {
  if (select) return select.value !== '';
  const { type, name } = control as HTMLInputElement;
  const checked = page.querySelector<HTMLInputElement>(`input[name="${CSS.escape(name)}"]:checked`);
  return type === 'radio' && checked !== null && checked.value !== '';
}

// Registers the rules of options before the first evaluation.
Object.assign(lazyConditionalOptionFunctions, conditionalOptionFunctions);

/**
 * Updates the offered options while questions are answered, and reports chosen options that are no longer
 * offered.
 */
export function startOnPage(page: Page): void {
  const { form, data } = page;
  const update = (): void => {
    const changed = offerOptions(data.form, form, evaluatePage(page).holds);
    for (const { field, input, label, isOffered } of changed) {
      const problem = toAnswerProblem(input, { rule: 'withdrawn', values: { option: label } });
      const message = formatProblemForVisitor(problem, { ...data, language: document.documentElement.lang });
      showFieldErrors(field, isOffered ? [] : [message]);
      if (!isOffered) page.announce(createErrorFormatter(page)({ field, message }));
    }
    // A restored answer may affect other conditions. Conditions cannot be circular, so this ends.
    if (changed.some(({ isOffered }) => isOffered)) update();
  };
  // In the capture phase, before other listeners read the answers.
  for (const change of ['input', 'rows', 'files', 'step'] as const)
    form.addEventListener(change, update, true);
  update();
  updateShownStep(page);
}
