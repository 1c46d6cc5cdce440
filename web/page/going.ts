import { type FieldError, findLosses, findObstacles } from './answers.ts';
import { showInStep, showSummary, summarise } from './errors.ts';
import { byId, make, type Page } from './page.ts';
import { addRow, focusRow, groupOf, hasRowButtons, removeRow } from './rows.ts';
import { showByLogic } from './shown.ts';
import { goBackTo, goTo, showStep, stepBeside } from './steps.ts';
import { submit } from './submitting.ts';

/**
 * Does what a button of the form asks for, without a new page. Returns whether it did: what it does not know is the
 * browser's, which posts the form.
 */
export function press(page: Page, { name, value }: HTMLButtonElement): boolean {
  if (name === '_add') changeRows(page, () => focusRow(addRow(page, value)));
  else if (name === '_remove' && hasRowButtons(groupOf(value)))
    changeRows(page, () => focusRow(removeRow(page, value)));
  else if (name === '_go' && value === 'back') goBack(page);
  else if (name === '_go' && page.review && value.startsWith('change:')) page.review.change(value.slice(7));
  // A new page would break off what is on its way.
  else if (page.form.querySelector('.held progress'))
    showSummary(page.data.words.problem, make('p', { textContent: page.data.words.uploadsWait }));
  else if (name === '_go' && (value === 'next' || value === 'submit') && !holdsFiles(page)) goOn(page);
  else {
    const { steps } = showByLogic(page);
    return showErrors(
      page,
      steps.flatMap((step) => findLosses(page, step)),
    );
  }
  return true;
}

/** Whether a file lies in its control still, as it does until the script for files is here: the browser sends those. */
function holdsFiles({ form }: Page): boolean {
  return [...form.querySelectorAll<HTMLInputElement>('[type=file]')].some(({ files }) => files?.length);
}

function changeRows(page: Page, change: () => void): void {
  change();
  showStep(page);
  page.form.dispatchEvent(new Event('rows'));
}

function goBack(page: Page): void {
  const step = stepBeside(page, -1);
  if (step !== undefined) goBackTo(page, step);
}

/** To the next step, or sends the form from the last one; to what is in the way of it instead (P3, P9). */
function goOn(page: Page): void {
  const { step } = page;
  const next = stepBeside(page, 1);
  const steps = next === undefined ? showByLogic(page).steps : [step];
  const errors = steps.flatMap((each) => findObstacles(page, each));
  if (showErrors(page, errors)) return;
  summarise(page, []);
  showInStep(page, []);
  if (next !== undefined) return goTo(page, next);
  void submit(page).then((found) => showErrors(page, found));
}

/** Shows problems at the first step that has one. Returns whether there are any. */
function showErrors(page: Page, errors: readonly FieldError[]): boolean {
  if (errors.length === 0) return false;
  const stepOf = ({ field }: FieldError) => {
    const section = byId(field)?.closest<HTMLElement>('section.step');
    return section ? page.sections.indexOf(section) : page.step;
  };
  const step = Math.min(...errors.map(stepOf));
  if (step !== page.step) goTo(page, step);
  const here = errors.filter((error) => stepOf(error) === step);
  showInStep(page, here);
  summarise(page, here);
  return true;
}
