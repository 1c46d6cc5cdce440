import { make, type Page } from './page.ts';
import { whenPausing } from './saving.ts';
import { isSending, post } from './submitting.ts';

/** How long a visitor pauses before the answers are saved on the server, in ms. */
const pauseMs = 3_000;

/** Saves the answers on the server too, of a form that says so. */
export function start(page: Page): void {
  whenPausing(page, pauseMs, () => void save(page));
}

/** Saves the answers on the server. One that fails is made good by the next, and by the answers kept here. */
async function save(page: Page): Promise<void> {
  if (isSending(page)) return;
  const saved = await post(page, ['_go', 'save']).then(
    ({ ok }) => ok,
    () => false,
  );
  const note = page.form.querySelector('.saved_now') ?? make('span', { className: 'saved_now size' });
  note.textContent = saved ? page.data.words.savedNow : '';
  page.form.querySelector('.actions')?.append(note);
}
