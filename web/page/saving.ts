import { keep } from './kept.ts';
import { make, type Page } from './page.ts';

/** How long a visitor pauses before the answers are kept in this window, in ms. */
const pauseMs = 300;

/** Events of the form after which its answers, or the place in it, are others. */
const changes = ['input', 'files', 'rows', 'step'] as const;

/** Keeps the answers in this window as the visitor goes, for a reload, and while there is no line. */
export function keepAsYouGo(page: Page): void {
  whenPausing(page, pauseMs, () => keep(page));
  addEventListener('pagehide', () => keep(page));
  tellOfLine(page);
}

/** Says that there is no line, as long as there is none. */
function tellOfLine({ form, data }: Page): void {
  const note = make('p', { className: 'hint', role: 'alert', textContent: data.words.noLine });
  addEventListener('offline', () => form.querySelector('.actions')?.before(note));
  addEventListener('online', () => note.remove());
}

/** Calls `work` once the answers, or the place among them, have been as they are for `ms`. */
export function whenPausing({ form }: Page, ms: number, work: () => void): void {
  let timer: ReturnType<typeof setTimeout>;
  for (const change of changes) {
    form.addEventListener(change, () => {
      clearTimeout(timer);
      timer = setTimeout(work, ms);
    });
  }
}
