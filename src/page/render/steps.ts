import { endOfForm } from '#ast/basics/condition.ts';
import { factOf } from '#ast/basics/fact-of.ts';
import { limits } from '#ast/basics/limits.ts';
import { countMarkup } from '#ast/basics/markup-characters.ts';
import { fill } from '#ast/basics/words.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import { pipedIds } from '#ast/form/piping.ts';
import {
  type Element,
  type Form,
  isComposite,
  isInput,
  isQuestion,
  isRepeatable,
  layoutOf,
  matrixRowsOf,
  optionsIn,
  type Step,
} from '#ast/form/tree.ts';
import type { FilesByName } from '#ast/logic/evaluate.ts';
import type { Settings } from '#ast/settings.ts';
import { attributes, type Html, html } from '../markup/html.ts';
import { richText } from '../markup/rich-text.ts';
import type { Words } from '../words/words.ts';
import { renderElement } from './elements/drawings.ts';
import { type PageState, type Place, pipedAt } from './elements/place.ts';
import { countShownRows } from './elements/rows.ts';
import { renderReview } from './review.ts';
import { reviewStepId, reviewStepOf } from './review-step.ts';
import { type FormView } from './view.ts';

/** The id of a step's heading, which takes the focus when the step is reached: `focus` of a view. */
export function stepHeadingId(index: number): string {
  return `_step-${index + 1}`;
}

/** How far a visitor is among the steps that can be reached, counted from 1. A step that cannot is at its last one. */
export function stepsSoFar(steps: readonly number[], step: number): { number: number; total: number } {
  const before = steps.filter((each) => each <= step).length;
  return { number: Math.max(1, before), total: Math.max(1, steps.length) };
}

/**
 * All steps of a form. Those that are not asked now are `hidden`, and their controls still post what they hold: the
 * page carries every answer in itself (docs/decisions/0013).
 */
export function sections(view: FormView, page: PageState): Html[] {
  const { form, step, shown } = view;
  const reviewStep = reviewStepOf(form);
  const placeUnder = (hasHeading: boolean): Place => ({
    page,
    answers: view.values,
    headingTag: hasHeading ? 'h3' : 'h2',
  });
  return form.children.map((each, index) => {
    const place = stepsSoFar(shown.steps, index);
    const title = each.attrs?.title || (form.children.length > 1 ? fill(page.words.step, place) : '');
    return section(each, index, {
      title,
      isHidden: step !== index,
      isUnseen: view.asksSingly === true && !each.attrs?.title,
      // Drawn when it is looked at: the answers of others are in their controls.
      review:
        index === reviewStep
          ? index === step
            ? renderReview({ ...view, say: page.say })
            : html`<div class="review"></div>`
          : undefined,
      place: placeUnder(title !== ''),
    });
  });
}

type SectionView = {
  readonly title: string;
  readonly isHidden: boolean;
  /** Whether the title says only what the progress says. */
  readonly isUnseen: boolean;
  /** In place of elements, the list of all answers. */
  readonly review: Html | undefined;
  readonly place: Place;
};

/** A step as a section, under its title or its number; the only step of a form may have neither. */
function section(step: Step, index: number, view: SectionView): Html {
  const { title, isHidden, isUnseen, review, place } = view;
  const id = stepHeadingId(index);
  const hasFocus = !isHidden && place.page.focus === id;
  const heading = html`<h2${attributes({ id, class: isUnseen && 'unseen', tabindex: -1, autofocus: hasFocus })}>${pipedAt(title, place)}</h2>`;
  return html`<section${attributes({ class: 'step', 'aria-labelledby': title !== '' && id, hidden: isHidden })}>
${title !== '' && heading}
${lead(step.attrs?.description, (part) => pipedAt(part, place))}
${
  review ??
  html`<div class="${layoutOf(step)}">
${step.children.map((element) => renderElement(element, place))}
</div>`
}
</section>`;
}

/** A text of the author's, its line breaks and marks kept. */
export function lead(text: string | undefined, plain?: (text: string) => Html): Html | undefined {
  return text ? richText(text, attributes({ class: 'prose lead' }), plain) : undefined;
}

/**
 * Where the visitor is: in words, and as a bar. The bar never goes back on the way forward, also when an answer has
 * made more steps reachable (docs/rules.md P7): `atLeast` is what it showed before, in percent.
 */
export function progress(
  form: Form,
  words: Words,
  place: { number: number; total: number },
  atLeast: number,
): Html {
  if (form.children.length < 2) return html``;
  const text = fill(words.step, place);
  const percent = Math.max(atLeast, Math.round((100 * place.number) / place.total));
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

type Asking = Pick<Settings, 'layout' | 'review_step'>;

// A form never changes; what is made of it is asked for with each request.
const made = new WeakMap<Form, Map<string, Form>>();

/**
 * The form as its pages ask it: each question a step of its own where the settings say so, and behind the last step the
 * one that lists the answers. Its elements are the very ones of the form, and mean the same.
 */
export function askedForm(form: Form, asking: Asking, { reviewTitle }: Pick<Words, 'reviewTitle'>): Form {
  const { layout, review_step: hasReview } = asking;
  if (layout !== 'question' && !hasReview) return form;
  const known = made.get(form) ?? new Map<string, Form>();
  made.set(form, known);
  const name = `${layout} ${hasReview && reviewTitle}`;
  const steps = layout === 'question' ? form.children.flatMap(singly) : form.children;
  const asked = known.get(name) ?? {
    ...form,
    children: hasReview ? [...steps.map(leadToReview), reviewStep(reviewTitle)] : steps,
  };
  known.set(name, asked);
  return asked;
}

const reviewStep = (title: string): Step => ({
  type: 'step',
  attrs: { id: reviewStepId, title },
  children: [],
});

/** The end of the form is behind the answers' list. */
function leadToReview(step: Step): Step {
  const { jumps } = step.attrs ?? {};
  if (!jumps) return step;
  const led = jumps.map((jump) => (jump.to === endOfForm ? { ...jump, to: reviewStepId } : jump));
  return { ...step, attrs: { ...step.attrs, jumps: led } };
}

/** A step for each question of a step, under its title; they are reached when it is, and the last one leads on. */
function singly(step: Step): Step[] {
  const { layout: _layout, jumps, ...first } = step.attrs ?? {};
  const { id: _id, description: _description, ...later } = first;
  const parts = questionsIn(step.children);
  return parts.map((children, index) => ({
    type: 'step',
    attrs: { ...(index === 0 ? first : later), ...(jumps && index === parts.length - 1 && { jumps }) },
    children,
  }));
}

/** Each question, a group as a whole, with the texts before it; those at the end stay with the last one. */
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
 * What it costs to draw an element, one of its options, a character of its texts, and more for one that HTML has to
 * write otherwise, in the steps of #ast/work.ts.
 */
const steps = { element: 450, option: 200, character: 1.5, escaped: 5 } as const;

/** What the page of a form costs to draw: an element in rows is drawn in each of them. */
export function drawingSteps(form: Form, answers: RawAnswers, held: FilesByName): number {
  const stepsOf = (element: Element): number => {
    const once = ownSteps(element);
    if (!isComposite(element)) return once;
    const rows = isRepeatable(element) ? countShownRows(element, answers, held) : 1;
    return once + rows * sum(element.children);
  };
  const sum = (elements: readonly Element[]): number =>
    elements.reduce((total, element) => total + stepsOf(element), 0);
  return form.children.reduce((total, step) => total + textSteps(step.attrs) + sum(step.children), 0);
}

const ownSteps = factOf((element: Element): number => {
  const rows = isInput(element) ? matrixRowsOf(element).length : 0;
  const options = Math.max(1, rows) * optionsIn(element).size;
  return steps.element + options * steps.option + textSteps(element.attrs);
});

function textSteps(attrs: object = {}): number {
  const text = JSON.stringify(attrs);
  const shown = pipedIds(text).length * limits.pipedCharacters;
  return (text.length + shown) * steps.character + countMarkup(text) * steps.escaped;
}
