import { makeElement, type Page } from './page.ts';
import { onAnswersPause } from './saving.ts';
import { isSubmitting, postForm } from './submitting.ts';

/** The pause in typing after which the answers are saved on the server, in ms. */
const pauseMs = 3_000;

/** Saves the answers on the server while the visitor fills in the form, if the form allows it. */
export function startOnPage(page: Page): void {
  onAnswersPause(page, pauseMs, () => void save(page));
}

/**
 * Saves the answers on the server. A failure is harmless: the next save includes them, and the answers are
 * also kept in this window.
 */
async function save(page: Page): Promise<void> {
  if (isSubmitting(page)) return;
  const saved = await postForm(page, ['_go', 'save']).then(
    ({ ok }) => ok,
    () => false,
  );
  const note = page.form.querySelector('.saved_now') ?? makeElement('span', { className: 'saved_now size' });
  note.textContent = saved ? page.data.words.savedNow : '';
  page.form.querySelector('.actions')?.append(note);
}
