import { reportHeight, reportSubmission } from './embed.ts';
import { readStoredPageState } from './page-state-storage.ts';

/*
 * The part of the public page's script that loads first. The page works without a script, so the rest loads
 * when the browser becomes idle, in case the network is lost later. It loads earlier when the visitor begins
 * (first pointer move, touch, key or focus), and immediately if answers must be restored after a reload.
 */

/** The events that show that a visitor begins, before the rest of the script is needed. */
const beginnings = ['focusin', 'pointermove', 'pointerdown', 'keydown', 'scroll'] as const;

reportHeight();
reportSubmission();
if (document.querySelector('[data-copy]'))
  void import('./copy.ts').then(({ addCopyButtons }) => addCopyButtons());
const form = document.querySelector<HTMLFormElement>('main form');
if (form && document.getElementById('_form')) waitForVisitor(form);

function waitForVisitor(form: HTMLFormElement): void {
  // If the visitor submits before the script has loaded, the submit waits for it.
  let pressed: SubmitEvent | undefined;
  const holdSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    pressed = event;
  };
  const resubmit = (): void => {
    form.removeEventListener('submit', holdSubmit);
    if (pressed) form.requestSubmit(pressed.submitter);
  };
  let hasBegun = false;
  const begin = (): void => {
    if (hasBegun) return;
    hasBegun = true;
    for (const beginning of beginnings) removeEventListener(beginning, begin);
    form.addEventListener('submit', holdSubmit);
    // If loading fails, the browser posts the form, and the server answers with the next page.
    void import('./start.ts').then(({ startPageScript }) => startPageScript(form)).finally(resubmit);
  };
  for (const beginning of beginnings) addEventListener(beginning, begin);
  // Without requestIdleCallback, waits a moment after the page has loaded.
  addEventListener('load', () =>
    'requestIdleCallback' in window ? requestIdleCallback(begin) : setTimeout(begin, 500),
  );
  if (readStoredPageState() !== undefined || document.activeElement?.closest('form') === form) begin();
}
