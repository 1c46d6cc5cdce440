import { type Form, layoutOf, type Step } from '#ast/tree.ts';
import { fill } from '#ast/words.ts';
import type { Words } from '../words/words.ts';
import { attributes, type Html, html } from './html.ts';
import { renderElement } from './elements/drawings.ts';
import { renderReview } from './review.ts';
import { reviewStepOf } from './review-step.ts';
import { richText } from './rich-text.ts';
import { type PageState, pipedAt, type Place } from './elements/place.ts';
import type { FormView } from './view.ts';

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
