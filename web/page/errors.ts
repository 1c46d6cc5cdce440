import { fillTemplate } from '#ast/basics/words.ts';
import { createQuestionLabeler } from '#page/render/question-label.ts';
import { prefixProblemLabel } from '#page/words/words.ts';
import type { FieldError } from './answers.ts';
import { byId, fieldBoxOf, makeElement, type Page } from './page.ts';

/** Shows the errors of one field at the field, or removes them if there are none. */
export function showFieldErrors(field: string, messages: readonly string[]): void {
  const box = fieldBoxOf(field);
  box
    ?.querySelector('.error')
    ?.replaceChildren(...messages.map((text) => makeElement('p', { textContent: text })));
  box?.classList.toggle('invalid', messages.length > 0);
  for (const control of invalidable(field, box)) {
    if (messages.length > 0) control.setAttribute('aria-invalid', 'true');
    else control.removeAttribute('aria-invalid');
    // As on the server: a numeric keyboard may lack the character that the pattern needs.
    if (control instanceof HTMLInputElement && control.inputMode === 'decimal' && messages.length > 0)
      control.inputMode = 'text';
  }
}

/**
 * Returns the elements that the server marks as invalid: the radio group itself, or otherwise every control
 * and the slider or search field that stands for it.
 */
function invalidable(field: string, box: HTMLElement | undefined): Iterable<Element> {
  if (box?.getAttribute('role') === 'radiogroup') return [box];
  const controls = document.getElementsByName(field);
  const control = byId(field);
  return control instanceof HTMLInputElement ? new Set([...controls, control]) : controls;
}

/** Lists the fields of the step that show an error. */
export function listInvalidFields({ sections, step }: Page): string[] {
  const boxes = [...sections[step]!.querySelectorAll(':has(> .error > p)')];
  return boxes.flatMap(
    (box) => box.id || box.querySelector('[id]:is(input, select, textarea, button)')?.id || [],
  );
}

/** Shows the errors of a step at its fields, and removes those that are resolved. */
export function showStepErrors(page: Page, errors: readonly FieldError[]): void {
  for (const field of listInvalidFields(page)) showFieldErrors(field, []);
  for (const [field, found] of Map.groupBy(errors, (error) => error.field))
    showFieldErrors(
      field,
      found.map(({ message }) => message),
    );
}

/**
 * Shows the summary above the questions, with a link to the field for every error. The focus moves to it, so
 * that it is read out once (docs/rules.md P3). The only question on the page gets the focus itself. Without
 * errors, removes the summary and the prefix of the page title.
 */
export function showErrorSummary(page: Page, errors: readonly FieldError[]): void {
  const { data } = page;
  document.querySelector('.summary')?.remove();
  document.title = document.title.replace(fillTemplate(data.words.errorTitle, { title: '' }), '');
  if (errors.length === 0) return;
  document.title = fillTemplate(data.words.errorTitle, { title: document.title });
  if (page.focusOnlyQuestion?.(errors)) return;
  const nameOf = createErrorFormatter(page);
  const items = errors.map((error) => {
    const { field } = error;
    const text = nameOf(error);
    return makeElement('li', {}, byId(field) ? makeElement('a', { href: `#${field}` }, text) : text);
  });
  showSummaryBox(data.words.problem, makeElement('ul', {}, ...items));
}

/**
 * Updates a field's errors in the summary. Removes resolved ones, and removes the summary with the last of
 * them.
 */
export function updateErrorSummary(page: Page, field: string, messages: readonly string[]): void {
  for (const [index, link] of document.querySelectorAll(`.summary a[href="#${field}"]`).entries()) {
    const message = messages[index];
    if (message) link.textContent = createErrorFormatter(page)({ field, message });
    else link.parentElement!.remove();
  }
  if (document.querySelector('.summary ul:not(:has(li))')) showErrorSummary(page, []);
}

/** Returns a function that formats an error with its question's label, for display away from its field. */
export function createErrorFormatter({ data, formatAnswer }: Page): (error: FieldError) => string {
  const labelOf = createQuestionLabeler(data.form, data.words, formatAnswer);
  return ({ field, message }) => prefixProblemLabel(labelOf(field), message, data.words);
}

/** Shows a box above the questions, at the top of the window. It gets the focus. */
export function showSummaryBox(title: string, ...content: Node[]): void {
  document.querySelector('.summary')?.remove();
  const heading = makeElement('h2', { id: '_problem', textContent: title });
  const box = makeElement('div', { className: 'summary', role: 'alert', tabIndex: -1 }, heading, ...content);
  box.setAttribute('aria-labelledby', '_problem');
  document.querySelector('.step')!.before(box);
  box.focus();
}

/**
 * Moves the focus from an error in the summary to its control without changing the URL, because that would
 * add a history entry.
 */
export function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('.summary a') : undefined;
  const field = link && byId(decodeURIComponent(link.getAttribute('href')!.slice(1)));
  if (!field) return;
  event.preventDefault();
  field.focus();
  (field.closest('.field') ?? field).scrollIntoView({ block: 'nearest' });
}
