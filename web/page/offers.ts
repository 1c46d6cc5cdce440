import { problemOf } from '#ast/answers/fill.ts';
import { lateOffers } from '#ast/logic/late-offers.ts';
import { offers } from '#ast/logic/offers.ts';
import { sayToVisitor } from '#page/words/say-problem.ts';
import { evaluatePage } from './answers.ts';
import { naming, showAtField } from './errors.ts';
import { offerOptions } from './offer-options.ts';
import type { Page } from './page.ts';
import { showStep } from './steps.ts';

// What is shown asks for them from the first time on.
Object.assign(lateOffers, offers);

/** Offers the options whose conditions hold as answers are given, and says what of an answer goes by that. */
export function start(page: Page): void {
  const { form, data } = page;
  const update = (): void => {
    const changed = offerOptions(data.form, form, evaluatePage(page).holds);
    for (const { field, input, label, isOffered } of changed) {
      const problem = problemOf(input, { rule: 'withdrawn', values: { option: label } });
      const message = sayToVisitor(problem, { ...data, language: document.documentElement.lang });
      showAtField(field, isOffered ? [] : [message]);
      if (!isOffered) page.announce(naming(page)({ field, message }));
    }
    // What came back is an answer, on which others may depend; there are no circles.
    if (changed.some(({ isOffered }) => isOffered)) update();
  };
  // Before anybody else reads the answers.
  for (const change of ['input', 'rows', 'files', 'step'] as const)
    form.addEventListener(change, update, true);
  update();
  showStep(page);
}
