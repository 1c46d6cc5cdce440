import { answerSayer } from '#ast/answers/say-piped.ts';
import { numbersName } from '#ast/fields.ts';
import { isComposite, isInput, isRepeatable, kindOf, walkElements } from '#ast/tree.ts';
import { fill } from '#ast/words.ts';
import { buttons, type Buttons, enterButton } from './buttons.ts';
import { conditionalPaths, shownByCondition } from './elements/conditional.ts';
import { renderDocument } from './document.ts';
import { languageAction, languageSwitch } from './language-switch.ts';
import { attributes, type Html, html, json, url } from './html.ts';
import type { PageState } from './elements/place.ts';
import type { SayAnswer } from './piped.ts';
import { reviewStepOf } from './review-step.ts';
import { lead, progress, sections, stepsSoFar } from './steps.ts';
import { errorSummary } from './summary.ts';
import type { FormView } from './view.ts';

/** The page of a form: one step at a time, kept answers and errors, complete without a script (docs/rules.md 14). */
export function renderForm(given: FormView): string {
  const view = { ...given, say: given.say ?? answerSayer({ ...given, speech: given }) };
  const { form, values, held, errors, language, script } = view;
  const hasErrors = errors.length > 0;
  const notice = html`<p class="hint" role="status" tabindex="-1"${attributes({ autofocus: !hasErrors })}>${view.notice}</p>`;
  return renderDocument({
    language,
    look: view.look,
    social: view.social,
    title: titleOf(view),
    script: script?.source,
    main: html`${hasErrors && errorSummary(view, { answers: values, held })}
<header>
${view.edit && html`<p class="number">${view.words.editLink}</p>`}
<h1>${form.attrs.name}</h1>
${lead(form.attrs.description)}
</header>
${view.notice !== undefined && notice}
${formElement(view)}
${script && html`<script type="application/json" id="_form">${json(script.data)}</script>`}`,
  });
}

/** "Error: Step 2 of 3 – Name", of which the first two only where they say something (docs/rules.md P1). */
function titleOf({ form, words, step, shown, errors, edit }: FormView): string {
  const name = edit ? fill(words.editTitle, { title: form.attrs.name }) : form.attrs.name;
  const title =
    form.children.length < 2
      ? name
      : `${step === reviewStepOf(form) ? `${words.reviewTitle} – ` : ''}${fill(words.stepTitle, { ...stepsSoFar(shown.steps, step), title: name })}`;
  return errors.length > 0 ? fill(words.errorTitle, { title }) : title;
}

/** With the answers that its texts show. */
type Saying = FormView & { readonly say: SayAnswer };

function formElement(view: Saying): Html {
  const { form, words, step, shown, otherLanguages: choice } = view;
  const elements = [...walkElements(form)].map(({ element }) => element);
  const hasFiles = elements.some((element) => isInput(element) && kindOf(element) === 'files');
  const hasRows = elements.some((element) => isComposite(element) && isRepeatable(element));
  const state = attributes({
    method: 'post',
    action: url(view.action),
    // No `novalidate`: the browser holds back the one thing that it would leave out of a post without a word, a date
    // or time that it cannot read. Whatever else is wrong the server says, all at once (elements/drawings.ts).
    enctype: hasFiles && 'multipart/form-data',
  });
  const hasSteps = form.children.length > 1;
  const pressable: Buttons = {
    words,
    hasSteps,
    hasBack: hasSteps && step !== shown.steps[0],
    isLast: !hasSteps || step === shown.steps.at(-1),
    saves: view.saves ?? false,
    submit: view.submitText ?? words.submit,
  };
  return html`<form${state}>
${(hasRows || hasSteps || choice) && enterButton(pressable)}
${hiddenInputs(view)}
${choice && languageSwitch(choice, { word: words.language, isForm: true, hasFocus: view.focus === languageAction })}
${progress(form, words, stepsSoFar(shown.steps, step), view.done ?? 0)}
${sections(view, pageStateOf(view))}
${buttons(pressable)}
${honeypot}
</form>`;
}

/**
 * A field that no person sees or reaches, with a name that machines like to fill in: what comes with it is held
 * (src/page/screening.ts).
 */
const honeypot = html`<div class="unseen" aria-hidden="true"><label>Website <input type="text" name="_website" tabindex="-1" autocomplete="off"></label></div>`;

/** The page's own values: what it was given to carry, how it writes numbers, its step, and what conditions have shown the visitor in it. */
function hiddenInputs(view: FormView): Html[] {
  const { form, step, shown, values, held, hidden = [] } = view;
  const marks = shownByCondition(form, step, shown, { answers: values, held }).keys();
  const all: (readonly [string, string])[] = [
    ...hidden,
    [numbersName, view.numbers],
    ['_step', String(step)],
    ...(view.known && step !== reviewStepOf(form) ? [['_known', view.known] as const] : []),
    ...[...marks].map((mark) => ['_seen', mark] as const),
  ];
  return all.map(([name, value]) => html`<input${attributes({ type: 'hidden', name, value })}>`);
}

function pageStateOf(view: Saying): PageState {
  const { words, language, sentences, numbers, form, shown, today, errors, held, limits, focus, notice } =
    view;
  const messages = Map.groupBy(errors, ({ field }) => field);
  return {
    words,
    language,
    sentences,
    numbers,
    shown,
    today,
    held,
    limits,
    places: view.places,
    say: view.say,
    pictureOf: view.pictureOf ?? (() => ({ address: '' })),
    conditional: conditionalPaths(form),
    errors: new Map([...messages].map(([field, found]) => [field, found.map(({ message }) => message)])),
    focus: errors.length > 0 || notice !== undefined ? undefined : focus,
  };
}
