import { fillTemplate } from '#ast/basics/words.ts';
import type { VisibleParts } from '#ast/logic/evaluate.ts';
import { getStepPosition, progressPercent } from '#page/render/step-position.ts';
import { sendToEmbedder } from './embed.ts';
import { showErrorSummary } from './errors.ts';
import type { Page } from './page.ts';
import { applyVisibility } from './shown.ts';

/** The history state of a step, for the browser's Back button. */
type Visit = { readonly step: number; readonly from: number };

const isVisit = (state: unknown): state is Visit =>
  typeof state === 'object' && state !== null && 'step' in state;

/** Shows a step with the focus on its heading, and adds it to the browser's history (P2). */
export function goTo(page: Page, step: number): void {
  const { step: from } = page;
  // Otherwise, Back restores the scroll position of the step, and its focused heading is out of view.
  history.scrollRestoration = 'manual';
  history.pushState({ step, from } satisfies Visit, '');
  arrive(page, step);
}

/** Shows an earlier step. Goes back in the history if the Back button leads there. */
export function goBackTo(page: Page, step: number): void {
  if (isVisit(history.state) && history.state.from === step) history.back();
  else goTo(page, step);
}

/**
 * Shows the step that the browser's Back or Forward button leads to, or the nearest reachable step before it.
 */
export function followHistory(page: Page, state: unknown): void {
  const { steps } = applyVisibility(page);
  const wanted = isVisit(state) ? state.step : page.data.step;
  arrive(page, steps.findLast((step) => step <= wanted) ?? 0);
}

function arrive(page: Page, step: number): void {
  page.step = step;
  showErrorSummary(page, []);
  page.announce('');
  const { steps } = updateShownStep(page);
  const heading = page.sections[step]?.querySelector('h2') ?? document.querySelector('h1')!;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo({ top: 0 });
  sendToEmbedder({ event: 'step', step: steps.indexOf(step) + 1, steps: steps.length });
  page.form.dispatchEvent(new Event('step'));
}

/** Updates the shown step, its progress and its buttons. */
export function updateShownStep(page: Page): VisibleParts {
  const { form, sections, step } = page;
  const shown = applyVisibility(page);
  for (const [index, section] of sections.entries()) section.hidden = index !== step;
  const isLast = step === shown.steps.at(-1);
  const hide = (go: string, isHidden: boolean) => {
    const button = form.querySelector<HTMLElement>(`.actions [value=${go}]`);
    if (button) button.hidden = isHidden;
  };
  hide('back', step === shown.steps[0]);
  hide('next', isLast);
  hide('submit', !isLast);
  showProgress(page, shown.steps);
  return shown;
}

/** Updates the progress in words, in a bar that never moves back, and in the title (P1, P7). */
function showProgress(page: Page, steps: readonly number[]): void {
  const { form, data, step } = page;
  const box = form.querySelector('#_progress');
  if (!box) return;
  const place = getStepPosition(steps, step);
  const text = fillTemplate(data.words.step, place);
  const bar = box.querySelector('progress')!;
  box.querySelector('p')!.textContent = text;
  bar.value = Math.max(bar.value, progressPercent(place));
  bar.ariaValueText = text;
  for (const [name, value] of Object.entries({ _step: step, _done: bar.value }))
    form.querySelector<HTMLInputElement>(`[name=${name}]`)!.value = String(value);
  const heading = data.form.children[step]?.attrs?.title
    ? undefined
    : page.sections[step]?.querySelector('h2');
  if (heading) heading.textContent = text;
  document.title = fillTemplate(data.words.stepTitle, {
    ...place,
    title: document.querySelector('h1')?.textContent ?? '',
  });
}

/** Returns the reachable step before or after the current one; undefined at the ends. */
export function adjacentStep(page: Page, direction: -1 | 1): number | undefined {
  const { steps } = applyVisibility(page);
  return page.review?.stepOnReturn(direction) ?? steps[steps.indexOf(page.step) + direction];
}
