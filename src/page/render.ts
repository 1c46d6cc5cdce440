import { kindOf } from '#ast/answer-checks.ts';
import type { AnswerError } from '#ast/answers.ts';
import type { RawAnswers } from '#ast/fields.ts';
import {
  type Form,
  isComposite,
  isInput,
  isRepeatable,
  layoutOf,
  type Step,
  walkElements,
} from '#ast/tree.ts';
import { renderDocument } from './document.ts';
import { attributes, type Html, html, url } from './html.ts';
import { renderElement } from './inputs.ts';
import type { FileLimits, HeldByName, PageState, Place } from './place.ts';
import { errorSummary } from './summary.ts';
import { words } from './words.ts';

/** One showing of a form's page. */
export type FormView = {
  readonly form: Form;
  /** Where the form posts to. */
  readonly action: string;
  /** Raw answers as `readFields` gives them; a repeatable composite is a list of rows. */
  readonly values: RawAnswers;
  readonly errors: readonly AnswerError[];
  /** Files of earlier posts, by HTML name. */
  readonly held: HeldByName;
  /** BCP-47 tag of the form's language. */
  readonly language: string;
  readonly limits: FileLimits;
  /** What takes the focus: a field, a row `group[0]` (its first field) or a group (its Add button). Errors win. */
  readonly focus?: string | undefined;
  /** More values to post. Names begin with `_`, as those of all page controls do. */
  readonly hidden?: readonly (readonly [name: string, value: string])[] | undefined;
};

/** The page of a form: all steps, kept answers and errors, complete without a script (DESIGN 4.14). */
export function renderForm(view: FormView): string {
  const { form, values, held, errors, language } = view;
  const { name, description } = form.attrs;
  const hasErrors = errors.length > 0;
  return renderDocument({
    language,
    title: hasErrors ? words.errorTitle(name) : name,
    main: html`${hasErrors && errorSummary(form, errors, { answers: values, held })}
<header>
<h1>${name}</h1>
${lead(description)}
</header>
${formElement(view)}`,
  });
}

function formElement(view: FormView): Html {
  const elements = [...walkElements(view.form)].map(({ element }) => element);
  const hasFiles = elements.some((element) => isInput(element) && kindOf(element) === 'files');
  const hasRows = elements.some((element) => isComposite(element) && isRepeatable(element));
  const form = attributes({
    method: 'post',
    action: url(view.action),
    enctype: hasFiles && 'multipart/form-data',
    // Every visitor gets the same messages in the same place: those of the server, with their summary.
    novalidate: true,
  });
  // The Enter key presses the first button of a form, which would be one of a row's.
  const enter = html`<button type="submit" class="unseen" tabindex="-1" aria-hidden="true">${words.submit}</button>`;
  const page = pageStateOf(view);
  const steps = view.form.children;
  return html`<form${form}>
${hasRows && enter}
${view.hidden?.map(([name, value]) => html`<input${attributes({ type: 'hidden', name, value })}>`)}
${steps.map((step, index) => section(step, index, steps.length, page, view.values))}
<button type="submit" class="submit">${words.submit}</button>
</form>`;
}

function pageStateOf({ errors, held, limits, focus }: FormView): PageState {
  const messages = Map.groupBy(errors, ({ field }) => field);
  return {
    errors: new Map([...messages].map(([field, found]) => [field, found.map(({ message }) => message)])),
    held,
    limits,
    focus: errors.length > 0 ? undefined : focus,
  };
}

/** A step as a section, under its title or its number; the only step of a form may have neither. */
function section(step: Step, index: number, total: number, page: PageState, answers: RawAnswers): Html {
  const { title, description } = step.attrs ?? {};
  const number = total > 1 && html`<span class="number">${words.step(index + 1, total)}</span>`;
  const hasHeading = Boolean(title) || total > 1;
  const place: Place = { page, answers, headingTag: hasHeading ? 'h3' : 'h2' };
  const id = `_step-${index + 1}`;
  const heading = html`<h2 id="${id}">${number} ${title}</h2>`;
  return html`<section${attributes({ class: 'step', 'aria-labelledby': hasHeading && id })}>
${hasHeading && heading}
${lead(description)}
<div class="${layoutOf(step)}">
${step.children.map((element) => renderElement(element, place))}
</div>
</section>`;
}

function lead(text: string | undefined): Html | undefined {
  return text ? html`<p class="prose lead">${text}</p>` : undefined;
}

/** The page after a submission; it takes the focus to its heading. `receipt` is what the visitor can refer to. */
export function renderConfirmation(view: {
  formName: string;
  message: string | undefined;
  receipt: string;
  language: string;
}): string {
  return renderDocument({
    language: view.language,
    title: words.thanksTitle(view.formName),
    main: html`<div class="notice done">
<h1 tabindex="-1" autofocus>${words.thanks}</h1>
${lead(view.message || words.received)}
<p class="receipt">${view.formName}<br>${words.receipt} <code>${view.receipt}</code></p>
</div>`,
  });
}

/** A page that says one thing: closed, not found, gone, too large, an error. */
export function renderNotice(view: { title: string; message: string; language: string }): string {
  return renderDocument({
    language: view.language,
    title: view.title,
    main: html`<div class="notice">
<h1>${view.title}</h1>
${lead(view.message)}
</div>`,
  });
}
