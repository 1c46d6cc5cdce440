import type { Page } from './page.ts';

/**
 * Clears an optional choice on a second click on it, and on Delete or Backspace. Without a script, the page
 * has a "No answer" button for this.
 */
export function clearChoices({ form, data, announce }: Page): void {
  /** The chosen button under the pointer. A click on it would change nothing. */
  let pressed: HTMLInputElement | null | undefined;
  const chosenAt = ({ target }: Event): HTMLInputElement | null | undefined =>
    (target as Element).closest('.option')?.querySelector<HTMLInputElement>('[type=radio]:checked');
  const clear = (radio: HTMLInputElement | null | undefined): void => {
    // A required question has a visible mark.
    if (!radio || radio.closest('.field')!.querySelector('.mark:not([hidden])')) return;
    radio.checked = false;
    radio.dispatchEvent(new Event('input', { bubbles: true }));
    announce(data.words.noAnswer);
  };
  form.addEventListener('pointerdown', (event) => (pressed = chosenAt(event)));
  form.addEventListener('click', ({ target }) => {
    // A click on a label comes before the one on its control.
    if (target === pressed) clear(pressed);
  });
  form.addEventListener('keydown', (event) => {
    pressed = undefined;
    if (/^(Delete|Backspace)$/.test(event.key)) clear(chosenAt(event));
  });
}
