import { problemOf } from '#ast/answers/fill.ts';
import { findInput, questionsById } from '#ast/form/fields.ts';
import { lateOffers } from '#ast/form/late-offers.ts';
import { type Holds, isOffered, offers } from '#ast/form/offers.ts';
import { type Form, type InputElement, listQuestions } from '#ast/form/tree.ts';
import { sayToVisitor } from '#page/words/say-problem.ts';
import { evaluatePage } from './answers.ts';
import { naming, showAtField } from './errors.ts';
import type { Page } from './page.ts';
import { showStep } from './steps.ts';

/** An option that was chosen, and is no longer offered or offered again. */
type Changed = {
  readonly field: string;
  readonly input: InputElement;
  readonly label: string;
  readonly isOffered: boolean;
};

/** Controls of options that were chosen when they went: they come back as they were. */
const held = new WeakSet<Element>();

/**
 * Shows the options of a page that conditions offer, and hides the others. What is not offered is not chosen: an
 * answer goes with its option, and comes back with it where nothing else was chosen meanwhile. Returns those.
 */
function offerOptions(form: Form, page: HTMLFormElement, holds: Holds): Changed[] {
  const questions = questionsById(listQuestions(form));
  const controls = page.querySelectorAll<HTMLInputElement | HTMLOptionElement>('[data-offer]');
  return [...controls].flatMap((control) => {
    // The builder's preview is a document of its own, with classes of its own.
    const isEntry = control.localName === 'option';
    const select = isEntry ? control.closest('select')! : undefined;
    const field = select?.name ?? (control as HTMLInputElement).name;
    const found = findInput(questions, field);
    const box = select ? control : control.closest('label')!;
    if (!found) return [];
    const isIn = isOffered(found.input, control.value, holds, found.row);
    if (box.hidden !== isIn) return [];
    box.hidden = !isIn;
    control.disabled = !isIn || control.dataset['offer'] === 'full';
    const state = isEntry ? 'selected' : 'checked';
    const chosen = control as unknown as Record<typeof state, boolean>;
    const isChosen = chosen[state];
    if (!isIn && isChosen) held.add(control);
    else if (!isIn || !held.delete(control) || isTaken(page, control, select)) return [];
    chosen[state] = isIn;
    return {
      field,
      input: found.input,
      label: (isEntry ? control : box.querySelector('span')!).textContent,
      isOffered: isIn,
    };
  });
}

/** Whether something else was chosen in place of an option, where only one can be. */
function isTaken(
  page: HTMLFormElement,
  control: HTMLInputElement | HTMLOptionElement,
  select: HTMLSelectElement | undefined,
): boolean {
  if (select) return select.value !== '';
  const { type, name } = control as HTMLInputElement;
  const checked = page.querySelector<HTMLInputElement>(`input[name="${CSS.escape(name)}"]:checked`);
  return type === 'radio' && checked !== null && checked.value !== '';
}

// What is shown asks for them from the first time on.
Object.assign(lateOffers, offers);

/** Offers the options whose conditions hold as answers are given, and says what of an answer goes by that. */
export function start(page: Page): void {
  const { form, data } = page;
  const update = (): void => {
    const changed = offerOptions(data.form, form, evaluatePage(page).holds);
    for (const { field, input, label, isOffered } of changed) {
      const problem = problemOf(input, { rule: 'withdrawn', values: { option: label } });
      const message = sayToVisitor(problem, { ...data, language: document.documentElement.lang });
      showAtField(field, isOffered ? [] : [message]);
      if (!isOffered) page.announce(naming(page)({ field, message }));
    }
    // What came back is an answer, on which others may depend; there are no circles.
    if (changed.some(({ isOffered }) => isOffered)) update();
  };
  // Before anybody else reads the answers.
  for (const change of ['input', 'rows', 'files', 'step'] as const)
    form.addEventListener(change, update, true);
  update();
  showStep(page);
}
