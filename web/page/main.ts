import { tellHeight, tellReceipt } from './embed.ts';
import { recall } from './memory.ts';

/*
 * What the public page loads at first. It is whole without a script, so the script comes when the page has been drawn
 * and the browser has nothing else to do, before the network can be lost; or earlier, when the visitor begins: at the
 * first move, touch, key or focus, and at once when a reload has answers to bring back.
 */

/** What a visitor does first, before anything is asked of the script. */
const beginnings = ['focusin', 'pointermove', 'pointerdown', 'keydown', 'scroll'] as const;

tellHeight();
tellReceipt();
const form = document.querySelector<HTMLFormElement>('main form');
if (form && document.getElementById('_form')) waitForVisitor(form);

function waitForVisitor(form: HTMLFormElement): void {
  // A press that comes before the script waits for it.
  let pressed: SubmitEvent | undefined;
  const hold = (event: SubmitEvent): void => {
    event.preventDefault();
    pressed = event;
  };
  const goOn = (): void => {
    form.removeEventListener('submit', hold);
    if (pressed) form.requestSubmit(pressed.submitter);
  };
  let hasBegun = false;
  const begin = (): void => {
    if (hasBegun) return;
    hasBegun = true;
    for (const beginning of beginnings) removeEventListener(beginning, begin);
    form.addEventListener('submit', hold);
    // Whatever fails, the form is posted as it stands, and the server answers with the next page.
    void import('./start.ts').then(({ start }) => start(form)).finally(goOn);
  };
  for (const beginning of beginnings) addEventListener(beginning, begin);
  // Not every browser says when it is idle; then a while after everything is there.
  addEventListener('load', () =>
    'requestIdleCallback' in window ? requestIdleCallback(begin) : setTimeout(begin, 500),
  );
  if (recall() !== undefined || document.activeElement?.closest('form') === form) begin();
}
