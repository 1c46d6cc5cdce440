import { keep } from './kept.ts';
import { make, type Page } from './page.ts';
import { isSending, post } from './submitting.ts';

/** How long a visitor pauses before the answers are kept in this window, and on the server, in ms. */
const pauseMs = { here: 300, server: 3_000 } as const;

/** Events of the form after which its answers, or the place in it, are others. */
const changes = ['input', 'files', 'rows', 'step'] as const;

/** Keeps the answers as the visitor goes: in this window for a reload, and on the server where the form says so. */
export function keepAsYouGo(page: Page): void {
  const keepSoon = whenQuiet(pauseMs.here, () => keep(page));
  const saveSoon = whenQuiet(pauseMs.server, () => void save(page));
  for (const change of changes) {
    page.form.addEventListener(change, () => {
      keepSoon();
      if (page.data.saves) saveSoon();
    });
  }
  addEventListener('pagehide', () => keep(page));
}

/** Calls `work` once it has not been asked for during `ms`. */
function whenQuiet(ms: number, work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, ms);
  };
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
