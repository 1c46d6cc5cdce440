import { fillTemplate } from '#ast/basics/words.ts';
import type { Form } from '#ast/form/tree.ts';
import { attributes, type Html, html } from '../markup/html.ts';
import type { Words } from '../words/words.ts';

/** The position of a step among the reachable ones, counted from 1. */
export type StepPosition = { readonly number: number; readonly total: number };

/**
 * Returns the visitor's position among the reachable steps, counted from 1. An unreachable step counts as the
 * last reachable one before it.
 */
export function stepsSoFar(steps: readonly number[], step: number): StepPosition {
  const before = steps.filter((each) => each <= step).length;
  return { number: Math.max(1, before), total: Math.max(1, steps.length) };
}

/**
 * Returns the percentage of the progress bar. Sending counts as one more step, so the bar is not full before.
 */
export function progressPercent({ number, total }: StepPosition): number {
  return Math.round((100 * number) / (total + 1));
}

/**
 * Renders the progress in words and as a bar. The bar never moves back on the way forward, even if an answer
 * makes more steps reachable (docs/rules.md P7). `atLeast` is the percentage shown before.
 */
export function progress(form: Form, words: Words, place: StepPosition, atLeast: number): Html {
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
