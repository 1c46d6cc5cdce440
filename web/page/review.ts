import { stepIndexOfField } from '#ast/answers/check-step.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { htmlToString } from '#page/markup/html.ts';
import { type AnsweredForm, findStepAfterChange, listKnownMarks } from '#page/post/return-to-review.ts';
import { renderReview } from '#page/render/review.ts';
import { reviewStepOf } from '#page/render/step-position.ts';
import { readValidationInput } from './answers.ts';
import { byId, makeElement, type Page } from './page.ts';
import { goTo } from './steps.ts';

/** Renders the review when its step opens, and moves between it and a question, like the server. */
export function startOnPage(page: Page): void {
  const { form, data } = page;
  const last = reviewStepOf(data.form);
  if (last === undefined) return;
  const known = (): HTMLInputElement | null => form.querySelector('[name=_known]');
  const draw = (): void => {
    if (page.step !== last) return;
    known()?.remove();
    const section = page.sections[last]!;
    const heading = `${section.querySelector('h2')!.textContent} – `;
    if (!document.title.startsWith(heading)) document.title = heading + document.title;
    const { raw, files, shown } = answeredOf(page);
    section.querySelector('.review')!.outerHTML = htmlToString(
      renderReview({
        form: data.form,
        values: raw,
        files,
        shown,
        words: data.review!,
        numberLocale: data.numberLocale,
        formatAnswer: page.formatAnswer ?? (() => ''),
        language: document.documentElement.lang,
        picturesOf,
      }),
    );
  };
  page.review = {
    change(field) {
      const step = stepIndexOfField(data.form, field);
      if (step === undefined) return;
      const value = listKnownMarks(answeredOf(page));
      goTo(page, step);
      form.append(makeElement('input', { type: 'hidden', name: '_known', value }));
      const control = byId(field);
      control?.focus();
      (control?.closest('.field') ?? control)?.scrollIntoView({ block: 'nearest' });
    },
    stepOnReturn(direction) {
      const marks = known()?.value;
      if (!marks) return undefined;
      return direction < 0 ? last : findStepAfterChange(answeredOf(page), page.step, marks);
    },
  };
  form.addEventListener('step', draw);
  // A picture of a restored signature arrives later.
  form.addEventListener('files', draw);
  draw();
}

/** Returns the pictures of the files of a field, as its list shows them (file-list.ts). */
function picturesOf(field: string): (string | undefined)[] {
  return [...document.getElementsByName(`_file[${field}]`)].flatMap((input) => {
    const item = input.closest('li')!;
    return item.querySelector('[name=_drop]:checked') ? [] : [item.querySelector('img')?.src];
  });
}

function answeredOf(page: Page): AnsweredForm {
  const { raw, files, context } = readValidationInput(page);
  const { form } = page.data;
  return { form, raw, files, context, shown: evaluateVisibility(form, raw, context, files) };
}
