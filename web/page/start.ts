import { isPageName } from '#ast/basics/page-names.ts';
import { countCharacters } from '#ast/basics/text.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import { type Form, walkElements } from '#ast/form/tree.ts';
import { exampleOf, type MomentFormat } from '#ast/rules/moments.ts';
import type { InputRules } from '#ast/types/rules.ts';
import { type Course, reachStep, readWay, visitControl, writeCourse, writeWay } from '#page/visit/course.ts';
import { sayLeft } from '#page/words/words.ts';
import { type FieldError, findLosses, findObstacles } from './answers.ts';
import {
  followInSummary,
  followLink,
  isInvalid,
  naming,
  showAtField,
  showInStep,
  showSummary,
  summarise,
} from './errors.ts';
import { byId, make, type Page, readPage } from './page.ts';
import { questionOf } from './question-of.ts';
import { addRow, focusRow, groupOf, hasRowButtons, removeRow } from './rows.ts';
import { type Kept, keep, keepAsYouGo, restore } from './saving.ts';
import { showByLogic } from './shown.ts';
import { followHistory, goBackTo, goTo, showStep, stepBeside } from './steps.ts';
import { isSending, submit } from './submitting.ts';

/**
 * Does what a button of the form asks for, without a new page. Returns whether it did: what it does not know is the
 * browser's, which posts the form.
 */
function press(page: Page, { name, value }: HTMLButtonElement): boolean {
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

/**
 * Checks a field when the visitor leaves it after writing in it, and from then on at each change until it is right
 * (docs/rules.md P3). What the leaving of a field finds is said politely: the focus stays where the visitor went.
 */
function checkFields(page: Page): void {
  const { form } = page;
  const written = new Set<string>();
  const check = (field: string): string | undefined => {
    const messages = findObstacles(page, page.step).flatMap((error) =>
      error.field === field ? error.message : [],
    );
    showAtField(field, messages);
    followInSummary(page, field, messages);
    return messages[0];
  };
  form.addEventListener('input', ({ target }) => {
    const field = nameOf(target);
    if (!field) return;
    written.add(field);
    if (isInvalid(field)) check(field);
  });
  form.addEventListener('focusout', ({ target, relatedTarget }) => {
    const field = nameOf(target);
    // Between the controls of one question the answer is not complete yet.
    if (!field || nameOf(relatedTarget) === field || !written.delete(field)) return;
    whenReleased(() => {
      const message = check(field);
      if (message) page.announce(naming(page)({ field, message }));
    });
  });
  // A sentence that comes while a button is pressed would push the button away from under the pointer.
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

/** The question that a control answers; none for files, which are checked as they come, and the page's own. */
function nameOf(target: EventTarget | null): string | undefined {
  const isControl =
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement;
  if (!isControl || target.type === 'file') return undefined;
  const name = questionOf(target.name);
  return isPageName(name) ? undefined : name;
}

/**
 * Keeps in the page how far the visit has come, which goes along when the form is sent, and tells the server of it when the
 * page is hidden or left: once a visit, and of nobody (docs/decisions/0050-visit-counts.md).
 */
function followCourse(page: Page): void {
  const { form } = page;
  const control = form.querySelector<HTMLInputElement>(`[name=${visitControl}]`);
  // An edited submission, and a visit that wants to be left out, have none.
  if (!control) return;
  let { was, is } = readWay(control.value);
  const note = (next: Course): void => {
    is = next;
    control.value = writeWay({ was, is });
  };
  form.addEventListener('input', ({ target }) => {
    const [question = ''] = questionOf((target as Element).getAttribute('name') ?? '').split('[', 1);
    if (question && !isPageName(question)) note({ ...reachStep(is, page.step), question });
  });
  form.addEventListener('step', () => note(reachStep(is, page.step)));
  let isPosted = false;
  form.addEventListener('submit', ({ defaultPrevented }) => (isPosted ||= !defaultPrevented));
  const tell = (): void => {
    const isNew = writeCourse(was) !== writeCourse(is);
    // What is sent with the form is counted there.
    if (!isNew || isPosted || isSending(page)) return;
    const [, , id] = location.pathname.split('/');
    const told = new URLSearchParams({ [visitControl]: control.value });
    if (!navigator.sendBeacon(`/f/${id}/visit`, told)) return;
    was = is;
    note(is);
    // A reload goes on with the visit as it was told.
    keep(page);
  };
  addEventListener('pagehide', tell);
  // A phone ends pages that are hidden without another word.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') tell();
  });
}

/** How long a visitor has to pause for the count to be said, in ms: at each letter it would drown what they write. */
const pauseMs = 1_000;

type Counted = HTMLInputElement | HTMLTextAreaElement;

/** Counts what is written where an answer has a longest length; near it, also for those who do not see the count. */
function countAnswers(page: Page): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = ({ name, value }: Counted): HTMLElement | undefined => {
    const box = byId(`count~${name}`);
    if (!box) return undefined;
    const limit = Number(box.dataset['limit']);
    box.textContent = sayLeft(value, limit, page.data.words, document.documentElement.lang);
    box.classList.toggle('over', countCharacters(value) > limit);
    return value.length < 0.8 * limit ? undefined : box;
  };
  page.form.addEventListener('input', ({ target }) => {
    // What is not counted has no count.
    const near = show(target as Counted);
    clearTimeout(timer);
    if (near) timer = setTimeout(() => page.announce(near.textContent), pauseMs);
  });
  // A row that was added is a copy of the one before it, without its answers.
  page.form.addEventListener('rows', () => {
    for (const control of page.form.querySelectorAll<Counted>('[aria-describedby*=count\\~]')) show(control);
  });
}

/** What the script does only on some pages. */
type Part = { readonly start: (page: Page) => void };

/** The rules of late types (src/ast/form/late-rules.ts), and what the script does at their controls, by the path of the file. */
const rules = import.meta.glob<{ rules: InputRules }>('./*/rules.ts', { base: '../../src/ast/types' });
const starts = import.meta.glob<Part>('./types/*.ts');

/** Brings what types of the form's elements have of their own, and no other type; each is to be started. */
async function loadTypes(form: Form): Promise<Part[]> {
  const types = new Set([...walkElements(form)].map(({ element }) => element.type));
  const loaded = [...types].map(async (type) => {
    const own = await rules[`./${type}/rules.ts`]?.();
    if (own) Object.assign(inputRules, { [type]: own.rules });
    return (await starts[`./types/${type}.ts`]?.()) ?? [];
  });
  return (await Promise.all(loaded)).flat();
}

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
