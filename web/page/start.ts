import { exampleOf, type MomentFormat } from '#ast/rules/moments.ts';
import { checkFields } from './checking.ts';
import { countAnswers } from './counting.ts';
import { followCourse } from './course.ts';
import { followLink } from './errors.ts';
import { press } from './going.ts';
import { type Kept, restore } from './kept.ts';
import { loadTypes } from './own-types.ts';
import { type Page, readPage } from './page.ts';
import { keepAsYouGo } from './saving.ts';
import { followHistory, showStep } from './steps.ts';

/** Lets the script work on the form from now on. @throws what is wrong with the page, which is then left as it is. */
export async function start(form: HTMLFormElement): Promise<void> {
  const page = readPage(form);
  // Of no use to most forms, and needed from the first press on by those that ask in these ways.
  const [types, ...ways] = await Promise.all([
    loadTypes(page.data.form),
    page.data.offers && import('./offers.ts'),
    page.data.piping && import('./shown-answers.ts'),
    page.data.review && import('./review.ts'),
    page.data.singly && import('./questions.ts'),
    page.data.saves && import('./server-saving.ts'),
  ]);
  // From here on everything that is wrong is said by the page, and limits only guide the browser's calendar.
  form.noValidate = true;
  for (const sentence of form.querySelectorAll('.unread')) nameFormat(sentence);
  for (const control of form.querySelectorAll<HTMLInputElement>('[data-min], [data-max]')) {
    control.min = control.dataset['min'] ?? '';
    control.max = control.dataset['max'] ?? '';
  }
  const kept = restore(page);
  const wanted = kept?.step ?? page.step;
  page.step = showStep(page).steps.findLast((step) => step <= wanted) ?? 0;
  showStep(page);
  form.addEventListener('input', () => showStep(page));
  form.addEventListener('submit', (event) => {
    // What throws here leaves the press to the browser.
    if (event.submitter instanceof HTMLButtonElement && press(page, event.submitter)) event.preventDefault();
  });
  document.addEventListener('click', followLink);
  addEventListener('popstate', ({ state }) => followHistory(page, state));
  checkFields(page);
  countAnswers(page);
  followCourse(page);
  for (const part of [...types, ...ways]) part?.start(page);
  // Sending asks for it, perhaps without a network by then.
  if (page.data.proof !== undefined) void import('./proof.ts');
  if (form.querySelector('[type=file], .pad')) void takeFiles(page, kept);
  keepAsYouGo(page);
}

/** Puts the example as the browser's own control shows it, whatever language the page speaks. */
function nameFormat(sentence: Element): void {
  const format = (sentence.nextElementSibling as HTMLInputElement).type as MomentFormat | 'datetime-local';
  const here = exampleOf(format, document.documentElement.lang);
  sentence.textContent = sentence.textContent.replace(here, exampleOf(format));
}

/** Of no use to most forms, so it comes by itself. Until it is here, files go with the form, as without script. */
async function takeFiles(page: Page, kept: Kept | undefined): Promise<void> {
  const uploads = await import('./uploads.ts');
  if (kept) uploads.showFiles(page, kept);
  uploads.takeFiles(page);
}
