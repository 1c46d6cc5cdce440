import { listCalculationResults } from '#page/render/elements/results.ts';
import { evaluatePage } from '../answers.ts';
import { byId, type Page } from '../page.ts';
import { rowsOf } from '../rows.ts';

/** Pause after which results are announced, in ms: on every digit they would interrupt the visitor. */
const pauseMs = 1_000;

/**
 * Shows the results of formulas while questions are answered. The server calculates them again and stores
 * only its own results.
 */
export function startOnPage(page: Page): void {
  const { form, data } = page;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const changed = new Set<string>();
  const update = (): void => {
    const shown = evaluatePage(page);
    const results = listCalculationResults(
      data.form,
      { shown, numberLocale: data.numberLocale },
      ({ attrs }) => rowsOf(attrs.id).length,
    );
    for (const { name, text } of results) {
      const output = byId(name);
      if (!output || output.textContent === text) continue;
      output.firstElementChild!.textContent = text;
      changed.add(name);
    }
  };
  const announceChanges = (): void => {
    const texts = [...changed].flatMap((name) => {
      const output = byId(name);
      const label = output?.closest('.field')?.querySelector('label')?.textContent.trim();
      return output?.checkVisibility() ? [`${label}: ${output.textContent}`] : [];
    });
    changed.clear();
    if (texts.length > 0) page.announce(texts.join('. '));
  };
  const follow = (): void => {
    update();
    clearTimeout(timer);
    if (changed.size > 0) timer = setTimeout(announceChanges, pauseMs);
  };
  for (const change of ['input', 'rows', 'files', 'step'] as const) form.addEventListener(change, follow);
  update();
  changed.clear();
}
