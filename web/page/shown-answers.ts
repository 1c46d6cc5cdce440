import { createAnswerFormatter } from '#ast/answers/format-piped.ts';
import type { GroupRow } from '#ast/form/fields.ts';
import { formIndexOf } from '#ast/form/form-index.ts';
import { pipedIds } from '#ast/form/piping.ts';
import { type Form, isComposite, walkElements } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { readValidationInput } from './answers.ts';
import type { Page } from './page.ts';
import { groupOfRow, renumberRows, rowsOf } from './rows.ts';

/** While questions are answered, updates the answers that are shown in texts. */
export function startOnPage(page: Page): void {
  const { form, data } = page;
  const update = (): void => {
    const { raw, files, context } = readValidationInput(page);
    const formatAnswer = createAnswerFormatter({
      form: data.form,
      values: raw,
      files,
      shown: evaluateVisibility(data.form, raw, context, files),
      format: {
        language: document.documentElement.lang,
        numberLocale: data.numberLocale,
        words: data.piping!,
      },
    });
    page.formatAnswer = formatAnswer;
    for (const place of form.querySelectorAll<HTMLElement>('[data-answer]')) {
      const text = formatAnswer(place.dataset['answer']!, rowAround(data.form, place));
      if (place.textContent !== text) place.textContent = text;
    }
    // The titles and buttons of rows contain the group's label.
    for (const { element } of walkElements(data.form))
      if (isComposite(element) && element.attrs.repeatable && pipedIds(element.attrs.label).length > 0)
        renumberRows(page, element.attrs.id);
  };
  for (const change of ['input', 'rows', 'files'] as const) form.addEventListener(change, update);
  update();
}

/** Returns the row that contains an element. */
function rowAround(form: Form, place: Element): GroupRow | undefined {
  const row = place.closest('.one_row');
  const group = row && formIndexOf(form).byId.get(groupOfRow(row.id))?.element;
  if (!row || !group || !isComposite(group)) return undefined;
  return { group, index: rowsOf(group.attrs.id).indexOf(row as HTMLElement) };
}
