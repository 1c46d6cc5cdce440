import { fill } from '#ast/basics/words.ts';
import { fillPiped } from '#ast/form/piping.ts';
import { questionLabels } from '#page/render/question-label.ts';
import { nameProblem } from '#page/words/words.ts';
import type { FieldError } from './answers.ts';
import { boxOf, byId, make, type Page } from './page.ts';

/** Shows the problems of one field at the field; none takes them away. */
export function showAtField(field: string, messages: readonly string[]): void {
  const box = boxOf(field);
  box?.querySelector('.error')?.replaceChildren(...messages.map((text) => make('p', { textContent: text })));
  box?.classList.toggle('invalid', messages.length > 0);
  for (const control of invalidable(field, box)) {
    if (messages.length > 0) control.setAttribute('aria-invalid', 'true');
    else control.removeAttribute('aria-invalid');
    // As the server draws it: a keyboard for numbers may lack what is missing.
    if (control instanceof HTMLInputElement && control.inputMode === 'decimal' && messages.length > 0)
      control.inputMode = 'text';
  }
}

/** What says that it is invalid, as the server marks it: a group of radio buttons itself, else every control. */
function invalidable(field: string, box: HTMLElement | undefined): Iterable<Element> {
  if (box?.getAttribute('role') === 'radiogroup') return [box];
  return document.getElementsByName(field);
}

/** Whether the field shows a problem. */
export function isInvalid(field: string): boolean {
  return boxOf(field)?.classList.contains('invalid') ?? false;
}

/** Shows the problems of a step at its fields, and takes away those that are mended. */
export function showInStep(page: Page, errors: readonly FieldError[]): void {
  const section = page.sections[page.step]!;
  for (const box of section.querySelectorAll(':has(> .error > p)')) {
    const field = box.id || box.querySelector<HTMLElement>('[id]:is(input, select, textarea)')?.id;
    if (field) showAtField(field, []);
  }
  for (const { field } of errors) {
    showAtField(
      field,
      errors.filter((other) => other.field === field).map(({ message }) => message),
    );
  }
}

/**
 * The summary at the top: every problem a link to its field, behind its label, and the focus on it, so that it is read out once
 * (docs/rules.md P3). No problems: it goes, and the title with it.
 */
export function summarise(page: Page, errors: readonly FieldError[]): void {
  const { data } = page;
  document.querySelector('.summary')?.remove();
  document.title = document.title.replace(fill(data.words.errorTitle, { title: '' }), '');
  if (errors.length === 0) return;
  document.title = fill(data.words.errorTitle, { title: document.title });
  const nameOf = naming(page);
  const items = errors.map((error) => {
    const { field } = error;
    const said = nameOf(error);
    return make('li', {}, byId(field) ? make('a', { href: `#${field}` }, said) : said);
  });
  showSummary(data.words.problem, make('ul', {}, ...items));
}

/** The summary says of a field what is said at it; what is mended goes, and with the last of it the summary. */
export function followInSummary(page: Page, field: string, messages: readonly string[]): void {
  for (const [index, link] of document.querySelectorAll(`.summary a[href="#${field}"]`).entries()) {
    const message = messages[index];
    if (message) link.textContent = naming(page)({ field, message });
    else link.parentElement!.remove();
  }
  if (document.querySelector('.summary ul:not(:has(li))')) summarise(page, []);
}

/** Says problems where they do not stand at their fields. */
export function naming({ data: { form, words }, say }: Page): (error: FieldError) => string {
  const labelOf = questionLabels(form, words, (text, row) =>
    say ? fillPiped(text, (id) => say(id, row)) : text,
  );
  return ({ field, message }) => nameProblem(labelOf(field), message, words);
}

/** A box at the top of the page that takes the focus. */
export function showSummary(title: string, ...content: Node[]): void {
  document.querySelector('.summary')?.remove();
  const heading = make('h2', { id: '_problem', textContent: title });
  const box = make('div', { className: 'summary', role: 'alert', tabIndex: -1 }, heading, ...content);
  box.setAttribute('aria-labelledby', '_problem');
  // Where the server draws it: below the pictures of the theme, which reach over what stands before them.
  document.querySelector('main > header')!.before(box);
  box.focus();
}

/** Leads from a problem in the summary to its control without a change of the address, which is a step of its own. */
export function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('.summary a') : undefined;
  const field = link && byId(decodeURIComponent(link.getAttribute('href')!.slice(1)));
  if (!field) return;
  event.preventDefault();
  field.focus();
  (field.closest('.field') ?? field).scrollIntoView({ block: 'nearest' });
}
