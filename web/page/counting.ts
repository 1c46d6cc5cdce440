import { countCharacters } from '#ast/text.ts';
import { sayLeft } from '#page/words/words.ts';
import { byId, type Page } from './page.ts';

/** How long a visitor has to pause for the count to be said, in ms: at each letter it would drown what they write. */
const pauseMs = 1_000;

type Counted = HTMLInputElement | HTMLTextAreaElement;

/** Counts what is written where an answer has a longest length; near it, also for those who do not see the count. */
export function countAnswers(page: Page): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = ({ name, value }: Counted): HTMLElement | undefined => {
    const box = byId(`count~${name}`);
    if (!box) return undefined;
    const limit = Number(box.dataset['limit']);
    box.textContent = sayLeft(value, limit, page.data.words, document.documentElement.lang);
    box.classList.toggle('over', countCharacters(value) > limit);
    return value.length < 0.8 * limit ? undefined : box;
  };
  page.form.addEventListener('input', ({ target }) => {
    // What is not counted has no count.
    const near = show(target as Counted);
    clearTimeout(timer);
    if (near) timer = setTimeout(() => page.announce(near.textContent), pauseMs);
  });
  // A row that was added is a copy of the one before it, without its answers.
  page.form.addEventListener('rows', () => {
    for (const control of page.form.querySelectorAll<Counted>('[aria-describedby*=count\\~]')) show(control);
  });
}
