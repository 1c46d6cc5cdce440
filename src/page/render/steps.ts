import { endOfForm } from '#ast/basics/condition.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { countMarkup } from '#ast/basics/markup-characters.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import { pipedIds } from '#ast/form/piping.ts';
import {
  type Element,
  type Form,
  inputOptionsById,
  isComposite,
  isInput,
  isQuestion,
  isRepeatable,
  layoutOf,
  matrixRowsOf,
  type Step,
} from '#ast/form/tree.ts';
import type { FilesByName } from '#ast/logic/evaluate.ts';
import type { Settings } from '#ast/settings.ts';
import { attributes, type Html, html } from '../markup/html.ts';
import { renderRichText } from '../markup/rich-text.ts';
import type { Words } from '../words/words.ts';
import { type ElementContext, type PageState, renderPipedText } from './elements/element-context.ts';
import { renderElement } from './elements/element-renderers.ts';
import { countShownRows } from './elements/rows.ts';
import { renderReview } from './review.ts';
import {
  getStepPosition,
  progressPercent,
  reviewStepId,
  reviewStepOf,
  type StepPosition,
} from './step-position.ts';
import { type FormPageView } from './view.ts';

/** Returns the id of a step's heading, which gets the focus when the step opens (`focus` in a view). */
export function stepHeadingId(index: number): string {
  return `_step-${index + 1}`;
}

/**
 * Renders all steps. Steps other than the current one are `hidden`, but their controls still post their
 * values: the page carries all answers (docs/decisions/0013).
 */
export function renderSteps(view: FormPageView, page: PageState): Html[] {
  const { form, step, shown } = view;
  const reviewStep = reviewStepOf(form);
  const placeUnder = (hasHeading: boolean): ElementContext => ({
    page,
    answers: view.values,
    headingTag: hasHeading ? 'h3' : 'h2',
  });
  return form.children.map((each, index) => {
    const place = getStepPosition(shown.steps, index);
    const title = each.attrs?.title || (form.children.length > 1 ? fillTemplate(page.words.step, place) : '');
    return section(each, index, {
      title,
      isHidden: step !== index,
      isUnseen: view.asksSingly === true && !each.attrs?.title,
      // The review is rendered only when it is shown; on other steps, the controls contain the answers.
      review:
        index === reviewStep
          ? index === step
            ? renderReview({ ...view, formatAnswer: page.say })
            : html`<div class="review"></div>`
          : undefined,
      place: placeUnder(title !== ''),
    });
  });
}

type SectionView = {
  readonly title: string;
  readonly isHidden: boolean;
  /** Whether the title only repeats the progress. */
  readonly isUnseen: boolean;
  /** The review, in place of elements. */
  readonly review: Html | undefined;
  readonly place: ElementContext;
};

/** Renders a step as a section with its title or its number. The only step of a form may have neither. */
function section(step: Step, index: number, view: SectionView): Html {
  const { title, isHidden, isUnseen, review, place } = view;
  const id = stepHeadingId(index);
  const hasFocus = !isHidden && place.page.focus === id;
  const heading = html`<h2${attributes({ id, class: isUnseen && 'unseen', tabindex: -1, autofocus: hasFocus })}>${renderPipedText(title, place)}</h2>`;
  return html`<section${attributes({ class: 'step', 'aria-labelledby': title !== '' && id, hidden: isHidden })}>
${title !== '' && heading}
${renderProse(step.attrs?.description, (part) => renderPipedText(part, place))}
${
  review ??
  html`<div class="${layoutOf(step)}">
${step.children.map((element) => renderElement(element, place))}
</div>`
}
</section>`;
}

/** Renders an author's text, with its line breaks and inline markup. */
export function renderProse(text: string | undefined, plain?: (text: string) => Html): Html | undefined {
  return text ? renderRichText(text, attributes({ class: 'prose lead' }), plain) : undefined;
}

/**
 * Renders the progress in words and as a bar. The bar never moves back while the visitor moves forward, even
 * if an answer makes more steps reachable (docs/rules.md P7). `atLeast` is the percentage shown before.
 */
export function renderProgress(form: Form, words: Words, place: StepPosition, atLeast: number): Html {
  if (form.children.length < 2) return html``;
  const text = fillTemplate(words.step, place);
  const percent = Math.max(atLeast, progressPercent(place));
  const bar = attributes({
    role: 'progressbar',
    'aria-label': words.progress,
    'aria-valuetext': text,
    max: 100,
    value: percent,
  });
  return html`<div class="progress" id="_progress">
<p>${text}</p>
<progress${bar}></progress>
<input type="hidden" name="_done" value="${percent}">
</div>`;
}

type StepLayout = Pick<Settings, 'layout' | 'review_step'>;

// Forms are immutable and every request needs the derived form, so it is cached.
const arrangedForms = new WeakMap<Form, Map<string, Form>>();

/**
 * Returns the form arranged for its pages: each question is a step if the settings say so, and a review step
 * is appended. Its elements are those of the original form.
 */
export function arrangeSteps(
  form: Form,
  settings: StepLayout,
  { reviewTitle }: Pick<Words, 'reviewTitle'>,
): Form {
  const { layout, review_step: hasReview } = settings;
  if (layout !== 'question' && !hasReview) return form;
  const known = arrangedForms.get(form) ?? new Map<string, Form>();
  arrangedForms.set(form, known);
  const name = `${layout} ${hasReview && reviewTitle}`;
  const steps = layout === 'question' ? form.children.flatMap(splitIntoQuestions) : form.children;
  const arranged = known.get(name) ?? {
    ...form,
    children: hasReview ? [...steps.map(redirectToReview), reviewStep(reviewTitle)] : steps,
  };
  known.set(name, arranged);
  return arranged;
}

const reviewStep = (title: string): Step => ({
  type: 'step',
  attrs: { id: reviewStepId, title },
  children: [],
});

/** Makes jumps to the end of the form lead to the review. */
function redirectToReview(step: Step): Step {
  const { jumps } = step.attrs ?? {};
  if (!jumps) return step;
  const led = jumps.map((jump) => (jump.to === endOfForm ? { ...jump, to: reviewStepId } : jump));
  return { ...step, attrs: { ...step.attrs, jumps: led } };
}

/** Splits a step into one step per question, all with its title. The last one gets its jumps. */
function splitIntoQuestions(step: Step): Step[] {
  const { layout: _layout, jumps, ...first } = step.attrs ?? {};
  const { id: _id, description: _description, ...later } = first;
  const parts = questionsIn(step.children);
  return parts.map((children, index) => ({
    type: 'step',
    attrs: { ...(index === 0 ? first : later), ...(jumps && index === parts.length - 1 && { jumps }) },
    children,
  }));
}

/**
 * Splits elements by question; a group counts as one question. Texts belong to the next question; those at
 * the end belong to the last one.
 */
function questionsIn(elements: readonly Element[]): (readonly Element[])[] {
  const parts: Element[][] = [];
  let texts: Element[] = [];
  for (const element of elements) {
    texts.push(element);
    if (!isQuestion(element)) continue;
    parts.push(texts);
    texts = [];
  }
  const last = parts.at(-1);
  if (!last) return [texts];
  last.push(...texts);
  return parts;
}

/**
 * The cost to render an element, an option, a character, and a character to escape, in the steps of
 * #ast/basics/work.ts.
 */
const steps = { element: 450, option: 200, character: 1.5, escaped: 5 } as const;

/** Returns the cost of rendering the page of a form. An element in rows counts once per row. */
export function renderingCost(form: Form, answers: RawAnswers, files: FilesByName): number {
  const stepsOf = (element: Element): number => {
    const once = elementCost(element);
    if (!isComposite(element)) return once;
    const rows = isRepeatable(element) ? countShownRows(element, answers, files) : 1;
    return once + rows * sum(element.children);
  };
  const sum = (elements: readonly Element[]): number =>
    elements.reduce((total, element) => total + stepsOf(element), 0);
  return form.children.reduce((total, step) => total + textCost(step.attrs) + sum(step.children), 0);
}

const elementCost = memoizeByObject((element: Element): number => {
  const rows = isInput(element) ? matrixRowsOf(element).length : 0;
  const options = Math.max(1, rows) * inputOptionsById(element).size;
  return steps.element + options * steps.option + textCost(element.attrs);
});

function textCost(attrs: object = {}): number {
  const text = JSON.stringify(attrs);
  const shown = pipedIds(text).length * formLimits.pipedCharacters;
  return (text.length + shown) * steps.character + countMarkup(text) * steps.escaped;
}
