import { isReservedPageName } from '#ast/basics/page-names.ts';
import { countCharacters } from '#ast/basics/text.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import { type Form, walkElements } from '#ast/form/tree.ts';
import { lazyPattern } from '#ast/rules/lazy-pattern.ts';
import { formatExampleMoment, type MomentFormat } from '#ast/rules/moments.ts';
import type { InputRules } from '#ast/types/rules.ts';
import {
  addReachedStep,
  formatProgressChange,
  formatVisitProgress,
  parseProgressChange,
  type VisitProgress,
  visitControl,
} from '#page/visit/visit-progress.ts';
import { formatCharactersLeft } from '#page/words/words.ts';
import { type FieldError, findBlockingStepErrors, findLostInputErrors } from './answers.ts';
import { clearChoices } from './clear-choice.ts';
import {
  createErrorFormatter,
  followLink,
  listInvalidFields,
  showErrorSummary,
  showFieldErrors,
  showStepErrors,
  showSummaryBox,
  updateErrorSummary,
} from './errors.ts';
import { byId, makeElement, type Page, readPage } from './page.ts';
import { questionOf } from './question-of.ts';
import { addRow, focusRow, groupOfRow, hasRowButtons, removeRow } from './rows.ts';
import { autosavePageState, restorePageState, type SavedPageState, savePageState } from './saving.ts';
import { applyVisibility } from './shown.ts';
import { adjacentStep, followHistory, goBackTo, goTo, updateShownStep } from './steps.ts';
import { isSubmitting, submitPageAnswers } from './submitting.ts';

/**
 * Performs the action of a button without a page load. Returns false if the browser must post the form
 * instead.
 */
function press(page: Page, { name, value }: HTMLButtonElement): boolean {
  if (name === '_add') changeRows(page, () => focusRow(addRow(page, value)));
  else if (name === '_remove' && hasRowButtons(groupOfRow(value)))
    changeRows(page, () => focusRow(removeRow(page, value)));
  else if (name === '_go' && value === 'back') goBack(page);
  else if (name === '_go' && page.review && value.startsWith('change:')) page.review.change(value.slice(7));
  // A page load would abort uploads in progress.
  else if (page.form.querySelector('.held progress'))
    showSummaryBox(page.data.words.problem, makeElement('p', { textContent: page.data.words.uploadsWait }));
  else if (name === '_go' && (value === 'next' || value === 'submit') && !holdsFiles(page))
    goToNextStep(page);
  else {
    const { steps } = applyVisibility(page);
    return showErrors(
      page,
      steps.flatMap((step) => findLostInputErrors(page, step)),
    );
  }
  return true;
}

/**
 * Whether a file input still contains files because the upload script has not loaded. The browser then posts
 * them.
 */
function holdsFiles({ form }: Page): boolean {
  return [...form.querySelectorAll<HTMLInputElement>('[type=file]')].some(({ files }) => files?.length);
}

function changeRows(page: Page, change: () => void): void {
  change();
  updateShownStep(page);
  page.form.dispatchEvent(new Event('rows'));
}

function goBack(page: Page): void {
  const step = adjacentStep(page, -1);
  if (step !== undefined) goBackTo(page, step);
}

/**
 * Moves to the next step, or submits the form from the last one. If there are errors, shows them instead
 * (docs/rules.md P3).
 */
function goToNextStep(page: Page): void {
  const { step } = page;
  const next = adjacentStep(page, 1);
  const steps = next === undefined ? applyVisibility(page).steps : [step];
  const errors = steps.flatMap((each) => findBlockingStepErrors(page, each));
  if (showErrors(page, errors)) return;
  showErrorSummary(page, []);
  showStepErrors(page, []);
  if (next !== undefined) return goTo(page, next);
  void submitPageAnswers(page).then((found) => showErrors(page, found));
}

/** Shows errors at the first step that has one. Returns whether there are any. */
function showErrors(page: Page, errors: readonly FieldError[]): boolean {
  if (errors.length === 0) return false;
  const stepOf = ({ field }: FieldError) => {
    const section = byId(field)?.closest<HTMLElement>('section.step');
    return section ? page.sections.indexOf(section) : page.step;
  };
  const step = Math.min(...errors.map(stepOf));
  if (step !== page.step) goTo(page, step);
  const stepErrors = errors.filter((error) => stepOf(error) === step);
  showStepErrors(page, stepErrors);
  showErrorSummary(page, stepErrors);
  return true;
}

/**
 * Validates a field when the visitor leaves it after typing, and then on each change until it is valid
 * (docs/rules.md P3). Errors found on leaving are announced politely, and the focus stays where the visitor
 * moved it.
 */
function checkFields(page: Page): void {
  const { form } = page;
  const written = new Set<string>();
  const check = (field: string): string | undefined => {
    const messages = findBlockingStepErrors(page, page.step).flatMap((error) =>
      error.field === field ? error.message : [],
    );
    showFieldErrors(field, messages);
    updateErrorSummary(page, field, messages);
    return messages[0];
  };
  form.addEventListener('input', ({ target }) => {
    const field = nameOf(target);
    if (!field) return;
    written.add(field);
    // The answer can also make others valid. The message about an option that is gone must stay.
    for (const invalid of listInvalidFields(page)) if (invalid === field || !page.data.offers) check(invalid);
  });
  form.addEventListener('focusout', ({ target, relatedTarget }) => {
    const field = nameOf(target);
    // Moving between controls of one question does not complete its answer.
    if (!field || nameOf(relatedTarget) === field || !written.delete(field)) return;
    whenReleased(() => {
      const message = check(field);
      if (message) page.announce(createErrorFormatter(page)({ field, message }));
    });
  });
  // A message that appears during a click would move the button away from under the pointer.
  let isPressing = false;
  addEventListener('pointerdown', () => (isPressing = true));
  for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (isPressing = false));
  const whenReleased = (work: () => void): void => {
    if (isPressing) addEventListener('pointerup', () => setTimeout(work), { once: true });
    else work();
  };
  form.addEventListener('files', (event) => {
    check((event as CustomEvent<string>).detail);
  });
}

/**
 * Returns the question that a control answers. Undefined for files, which are validated when chosen, and for
 * the page's own controls.
 */
function nameOf(target: EventTarget | null): string | undefined {
  const isControl =
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement;
  if (!isControl || target.type === 'file') return undefined;
  // A search field has the id of its question, but no name.
  const name = questionOf(target.name || target.id);
  return isReservedPageName(name) ? undefined : name;
}

/**
 * Keeps a record of the visit in the page. The form posts it, and a beacon reports it anonymously when the
 * page is hidden or left (docs/decisions/0050-visit-counts.md).
 */
function trackVisit(page: Page): void {
  const { form } = page;
  const control = form.querySelector<HTMLInputElement>(`[name=${visitControl}]`);
  // The page of an edited submission, or of a visitor who opted out, does not have this control.
  if (!control) return;
  let { was, is } = parseProgressChange(control.value);
  const update = (next: VisitProgress): void => {
    is = next;
    control.value = formatProgressChange({ was, is });
  };
  form.addEventListener('input', ({ target }) => {
    const [question = ''] = questionOf((target as Element).getAttribute('name') ?? '').split('[', 1);
    if (question && !isReservedPageName(question)) update({ ...addReachedStep(is, page.step), question });
  });
  form.addEventListener('step', () => update(addReachedStep(is, page.step)));
  let isPosted = false;
  form.addEventListener('submit', ({ defaultPrevented }) => (isPosted ||= !defaultPrevented));
  const reportVisit = (): void => {
    const isNew = formatVisitProgress(was) !== formatVisitProgress(is);
    // A submitted form reports its own visit.
    if (!isNew || isPosted || isSubmitting(page)) return;
    const [, , id] = location.pathname.split('/');
    const report = new URLSearchParams({ [visitControl]: control.value });
    if (!navigator.sendBeacon(`/f/${id}/visit`, report)) return;
    was = is;
    update(is);
    // After a reload, the record must continue from what was reported.
    savePageState(page);
  };
  addEventListener('pagehide', reportVisit);
  // Phones may close hidden pages without firing another event.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') reportVisit();
  });
}

/**
 * The pause in typing after which the count is announced, in ms. On every keystroke, it would interrupt the
 * visitor.
 */
const pauseMs = 1_000;

type Counted = HTMLInputElement | HTMLTextAreaElement;

/**
 * Shows how many characters are left of an answer's maximum. Near the limit, also announces it to screen
 * readers.
 */
function countAnswers(page: Page): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = ({ name, value }: Counted): HTMLElement | undefined => {
    const box = byId(`count~${name}`);
    if (!box) return undefined;
    const limit = Number(box.dataset['limit']);
    box.textContent = formatCharactersLeft(value, limit, page.data.words, document.documentElement.lang);
    box.classList.toggle('over', countCharacters(value) > limit);
    return value.length < 0.8 * limit ? undefined : box;
  };
  page.form.addEventListener('input', ({ target }) => {
    // Other controls have no count.
    const near = show(target as Counted);
    clearTimeout(timer);
    if (near) timer = setTimeout(() => page.announce(near.textContent), pauseMs);
  });
  // An added row is a copy of another row, so its counts must be updated.
  page.form.addEventListener('rows', () => {
    for (const control of page.form.querySelectorAll<Counted>('[aria-describedby*=count\\~]')) show(control);
  });
}

/** A part of the script that only some pages need. */
type Part = { readonly startOnPage: (page: Page) => void };

/**
 * The rules of element types that load late (src/ast/form/lazy-rules.ts), and the scripts for their controls,
 * by file path.
 */
const rules = import.meta.glob<{ rules: InputRules }>('./*.ts', { base: '../../src/ast/types/lazy-rules' });
const starts = import.meta.glob<Part>('./types/*.ts');

/** Loads the rules and parts for the form's element types only. The caller starts the parts. */
async function loadTypes(form: Form): Promise<Part[]> {
  const elements = [...walkElements(form)].map(({ element }) => element);
  const types = new Set(elements.map(({ type }) => type));
  if (elements.some(({ attrs }) => attrs && 'pattern' in attrs))
    lazyPattern.compile = (await import('#ast/rules/pattern.ts')).compilePattern;
  const loaded = [...types].map(async (type) => {
    const own = await rules[`./${type}.ts`]?.();
    if (own) Object.assign(inputRules, { [type]: own.rules });
    return (await starts[`./types/${type}.ts`]?.()) ?? [];
  });
  return (await Promise.all(loaded)).flat();
}

/** Starts the script for the form. @throws if the page has an error; the page is then unchanged. */
export async function startPageScript(form: HTMLFormElement): Promise<void> {
  const page = readPage(form);
  // Most forms do not need these parts. Forms that do need them before the first click.
  const [types, ...ways] = await Promise.all([
    loadTypes(page.data.form),
    page.data.offers && import('./offered-options.ts'),
    page.data.piping && import('./shown-answers.ts'),
    page.data.review && import('./review.ts'),
    page.data.singly && import('./questions.ts'),
    page.data.saves && import('./server-saving.ts'),
    form.querySelector('[data-search]') && import('./searchable-select.ts'),
    // Only WebKit shows today in an empty control.
    navigator.vendor.startsWith('Apple') && form.querySelector('.unread')
      ? import('./moment-formats.ts')
      : undefined,
  ]);
  // From now on, the script shows all errors itself; limits only guide the browser's calendar.
  form.noValidate = true;
  for (const sentence of form.querySelectorAll('.unread')) nameFormat(sentence);
  for (const control of form.querySelectorAll<HTMLInputElement>('[data-min], [data-max]')) {
    control.min = control.dataset['min'] ?? '';
    control.max = control.dataset['max'] ?? '';
  }
  const saved = restorePageState(page);
  const wanted = saved?.step ?? page.step;
  page.step = updateShownStep(page).steps.findLast((step) => step <= wanted) ?? 0;
  updateShownStep(page);
  form.addEventListener('input', () => updateShownStep(page));
  form.addEventListener('submit', (event) => {
    // If this throws, the browser posts the form instead.
    if (event.submitter instanceof HTMLButtonElement && press(page, event.submitter)) event.preventDefault();
  });
  document.addEventListener('click', followLink);
  addEventListener('popstate', ({ state }) => followHistory(page, state));
  // Lets the browser restore the scroll position after a reload, which `goTo` turns off.
  addEventListener('pagehide', () => (history.scrollRestoration = 'auto'));
  checkFields(page);
  countAnswers(page);
  clearChoices(page);
  trackVisit(page);
  for (const part of [...types, ...ways]) part?.startOnPage(page);
  // Loaded early, because submitting needs it and may happen without a network.
  if (page.data.proof !== undefined) void import('./proof.ts');
  if (form.querySelector('[type=file], .pad')) void startUploads(page, saved);
  autosavePageState(page);
}

/**
 * Replaces the example with one in the browser's own date format, which may differ from that of the page's
 * language.
 */
function nameFormat(sentence: Element): void {
  const format = (sentence.nextElementSibling as HTMLInputElement).type as MomentFormat | 'datetime-local';
  const here = formatExampleMoment(format, document.documentElement.lang);
  sentence.textContent = sentence.textContent.replace(here, formatExampleMoment(format));
}

/**
 * Loads the upload script separately, because most forms do not need it. Until then, files are posted with
 * the form, as without a script.
 */
async function startUploads(page: Page, saved: SavedPageState | undefined): Promise<void> {
  const uploads = await import('./uploads.ts');
  if (saved) uploads.restoreFiles(page, saved);
  uploads.startFileUploads(page);
}
