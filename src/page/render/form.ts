import { createAnswerFormatter } from '#ast/answers/format-piped.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { fieldName, numberFormatControl } from '#ast/form/fields.ts';
import {
  answerKindOf,
  type Form,
  isComposite,
  isInput,
  isRepeatable,
  isVisibleToVisitors,
  listQuestions,
  walkElements,
} from '#ast/form/tree.ts';
import { numberMarksOf } from '#ast/rules/written-numbers.ts';
import { renderDocument } from '../markup/document.ts';
import { attributes, type FormatAnswer, type Html, html, renderJson, safeUrl } from '../markup/html.ts';
import { prefixProblemLabel, type Words } from '../words/words.ts';
import { conditionalPaths, listConditionalMarks, type PostedAnswers } from './elements/conditional.ts';
import type { PageState } from './elements/element-context.ts';
import { countShownRows, rowName } from './elements/rows.ts';
import { languageActionPrefix, languageSwitch } from './language-switch.ts';
import { createQuestionLabeler } from './question-label.ts';
import { getStepPosition, reviewStepOf } from './step-position.ts';
import { renderProgress, renderProse, renderSteps } from './steps.ts';
import type { FieldMessage, FormPageView } from './view.ts';

/**
 * Renders a summary of all errors just above the questions, so that it does not push them off the screen. Each
 * error has its question's label, the message shown at the field, and a link to it (docs/rules.md P3, P4). The
 * summary gets the focus when the page loads.
 */
function errorSummary(
  {
    form,
    errors,
    words,
    formatAnswer,
  }: Pick<FormPageView, 'form' | 'errors' | 'words'> & { readonly formatAnswer: FormatAnswer },
  posted: PostedAnswers,
): Html {
  const names = new Set(namesOnPage(form, posted));
  // An error may be about a field that the page does not show, for example in a removed question.
  const labelOf = createQuestionLabeler(form, words, formatAnswer);
  const item = ({ field, message }: FieldMessage) => {
    const text = prefixProblemLabel(labelOf(field), message, words);
    return names.has(field) ? html`<li><a href="#${field}">${text}</a></li>` : html`<li>${text}</li>`;
  };
  return html`<div class="summary" role="alert" tabindex="-1" autofocus aria-labelledby="_problem">
<h2 id="_problem">${words.problem}</h2>
<ul>
${errors.map(item)}
</ul>
</div>`;
}

/** Lists the ids that errors can link to: fields, groups and their rows. */
function* namesOnPage(form: Form, { answers, files }: PostedAnswers): Generator<string> {
  for (const question of listQuestions(form)) {
    if (!isVisibleToVisitors(question.element)) continue;
    const { id } = question.element.attrs;
    yield id;
    if (question.kind === 'input') continue;
    for (let index = 0; index < countShownRows(question.element, answers, files); index += 1) {
      yield rowName(id, index);
      for (const input of question.inputs.filter(isVisibleToVisitors))
        yield fieldName(input, { group: question.element, index });
    }
  }
}

/** The state of the page's buttons. `submit` is the label of the submit button. */
type Buttons = {
  readonly words: Words;
  readonly hasBack: boolean;
  readonly isLast: boolean;
  /** Whether the form has more than one step. */
  readonly hasSteps: boolean;
  readonly saves: boolean;
  /** Whether Enter continues from every question, if the page has its script. */
  readonly hasEnterHint: boolean;
  readonly submit: string;
};

/**
 * Renders the buttons below the step: plain form posts, distinguished by `_go`. Unavailable buttons are
 * hidden instead of omitted, so that the script can show them.
 */
function buttons({ words, hasBack, isLast, hasSteps, saves, hasEnterHint, submit }: Buttons): Html {
  const button = (go: string, className: string, text: string, isHidden: boolean): Html =>
    html`<button${attributes({ type: 'submit', name: '_go', value: go, class: className, hidden: isHidden })}>${text}</button>`;
  return html`<div class="actions">
${hasSteps && button('back', 'back', words.back, !hasBack)}
${hasSteps && button('next', 'next', words.next, isLast)}
${button('submit', 'submit', submit, !isLast)}
${hasEnterHint && html`<span class="keys" aria-hidden="true">${words.pressEnter}</span>`}
${saves && button('save', 'save', words.save, false)}
</div>`;
}

/**
 * Renders a hidden first button. The Enter key presses a form's first button, which otherwise would be Back
 * or a button in a row.
 */
function enterButton({ words, isLast, submit }: Buttons): Html {
  const go = isLast ? 'submit' : 'next';
  return html`<button type="submit" name="_go" value="${go}" class="unseen" tabindex="-1" aria-hidden="true">${isLast ? submit : words.next}</button>`;
}

/**
 * Renders the page of a form: one step at a time, with kept answers and errors. It works without a script
 * (docs/rules.md 14).
 */
export function renderForm(given: FormPageView): string {
  const view = { ...given, formatAnswer: given.say ?? createAnswerFormatter({ ...given, format: given }) };
  const { form, errors, language, script } = view;
  const notice = html`<p class="hint" role="status" tabindex="-1"${attributes({ autofocus: errors.length === 0 })}>${view.notice}</p>`;
  return renderDocument({
    language,
    look: view.look,
    social: view.social,
    title: titleOf(view),
    script: script?.source,
    main: html`<header>
${view.edit && html`<p class="number">${view.words.editLink}</p>`}
<h1>${form.attrs.name}</h1>
${renderProse(form.attrs.description)}
</header>
${view.waitNotice !== undefined && html`<p class="hint">${view.waitNotice}</p>`}
${view.notice !== undefined && notice}
${formElement(view)}
${view.cancelLink && html`<p class="actions"><a href="${safeUrl(view.cancelLink.address)}">${view.cancelLink.text}</a></p>`}
${script && html`<script type="application/json" id="_form">${renderJson(script.data)}</script>`}`,
  });
}

/**
 * Returns the page title, such as "Error: Step 2 of 3 – Name". The first two parts appear only if they apply
 * (docs/rules.md P1).
 */
function titleOf({ form, words, step, shown, errors, edit }: FormPageView): string {
  const name = edit ? fillTemplate(words.editTitle, { title: form.attrs.name }) : form.attrs.name;
  const title =
    form.children.length < 2
      ? name
      : `${step === reviewStepOf(form) ? `${words.reviewTitle} – ` : ''}${fillTemplate(words.stepTitle, { ...getStepPosition(shown.steps, step), title: name })}`;
  return errors.length > 0 ? fillTemplate(words.errorTitle, { title }) : title;
}

/** The view with its answer formatter. */
type FormattedView = FormPageView & { readonly formatAnswer: FormatAnswer };

function formElement(view: FormattedView): Html {
  const { form, words, step, shown, otherLanguages: choice } = view;
  const elements = [...walkElements(form)].map(({ element }) => element);
  const hasFiles = elements.some((element) => isInput(element) && answerKindOf(element) === 'files');
  const hasRows = elements.some((element) => isComposite(element) && isRepeatable(element));
  const state = attributes({
    method: 'post',
    action: safeUrl(view.action),
    // No `novalidate`: the browser must hold back a date or time that it cannot parse, because it would
    // silently post nothing. The server reports all other errors together (elements/element-renderers.ts).
    enctype: hasFiles && 'multipart/form-data',
  });
  const hasSteps = form.children.length > 1;
  const pressable: Buttons = {
    words,
    hasSteps,
    hasBack: hasSteps && step !== shown.steps[0],
    isLast: !hasSteps || step === shown.steps.at(-1),
    saves: view.saves ?? false,
    hasEnterHint: view.asksSingly ?? false,
    submit: view.submitText ?? words.submit,
  };
  return html`<form${state}>
${(hasRows || hasSteps || choice || (view.asks?.size ?? 0) > 0) && enterButton(pressable)}
${hiddenInputs(view)}
${choice && languageSwitch(choice, { word: words.language, isForm: true, hasFocus: view.focus === languageActionPrefix })}
${renderProgress(form, words, getStepPosition(shown.steps, step), view.done ?? 0)}
${view.errors.length > 0 && errorSummary(view, { answers: view.values, files: view.files })}
${renderSteps(view, pageStateOf(view))}
${buttons(pressable)}
${honeypot}
</form>`;
}

/**
 * A field that no person sees or reaches, with a name that bots like to fill in. A submission that fills it
 * in is treated as spam (src/page/visit/screening.ts).
 */
const honeypot = html`<div class="unseen" aria-hidden="true"><label>Website <input type="text" name="_website" tabindex="-1" autocomplete="off"></label></div>`;

/**
 * Renders the page's hidden controls: values to pass on, its number format, its step, and the conditional
 * elements that are shown.
 */
function hiddenInputs(view: FormPageView): Html[] {
  const { form, step, shown, values, files, hidden = [] } = view;
  const marks = listConditionalMarks(form, step, shown, { answers: values, files }).keys();
  const all: (readonly [string, string])[] = [
    ...hidden,
    [numberFormatControl, numberMarksOf(view.numberLocale)],
    ['_step', String(step)],
    ...(view.known && step !== reviewStepOf(form) ? [['_known', view.known] as const] : []),
    ...[...marks].map((mark) => ['_seen', mark] as const),
  ];
  return all.map(([name, value]) => html`<input${attributes({ type: 'hidden', name, value })}>`);
}

function pageStateOf(view: FormattedView): PageState {
  const {
    words,
    language,
    sentences,
    numberLocale,
    form,
    shown,
    today,
    errors,
    files,
    limits,
    focus,
    notice,
  } = view;
  const messages = Map.groupBy(errors, ({ field }) => field);
  return {
    words,
    language,
    sentences,
    numberLocale,
    shown,
    today,
    files,
    limits,
    asks: view.asks,
    places: view.places,
    hasWaitingList: view.hasWaitingList,
    say: view.formatAnswer,
    pictureOf: view.pictureOf ?? (() => ({ address: '' })),
    conditional: conditionalPaths(form),
    errors: new Map([...messages].map(([field, found]) => [field, found.map(({ message }) => message)])),
    focus: errors.length > 0 || notice !== undefined ? undefined : focus,
  };
}
