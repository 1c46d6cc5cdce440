import type { FieldError } from './answers.ts';
import { byId, fieldBoxOf, type Page } from './page.ts';

const answerable = 'input:not([type=hidden]), select, textarea';

/**
 * Adds keyboard and touch control for one question at a time. The opened question gets the focus, Enter
 * continues, letters and digits choose an option, and a swipe goes back. Arrow keys move between checkboxes as
 * between radio buttons.
 */
export function startOnPage(page: Page): void {
  const { form, sections, data } = page;
  let last = page.step;
  form.addEventListener('step', () => {
    const section = sections[page.step]!;
    // An earlier question comes in from above.
    section.classList.toggle('returned', page.step < last);
    last = page.step;
    focusQuestion(section);
  });
  document.addEventListener('keydown', (event) => {
    if (event.isComposing || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    const { target, key } = event;
    const isDone = key === 'Enter' ? enter(form, event) : isChoice(target) && choose(target, key, event.code);
    if (isDone) event.preventDefault();
  });
  page.focusOnlyQuestion = (errors) => focusOnlyQuestion(page, errors);
  goBackBySwipe(form);
  for (const control of form.querySelectorAll('textarea')) {
    const hint = document.createElement('p');
    control.after(Object.assign(hint, { className: 'count keys', textContent: data.singly!.newLine }));
  }
  // After a reload, the page may open at another question than the one that the server gave the focus.
  const { activeElement } = document;
  // A frame must not take the focus of the page around it.
  if (parent === window && (activeElement === document.body || activeElement?.closest('.step[hidden]')))
    focusQuestion(sections[page.step]!);
}

function focusQuestion(section: HTMLElement): void {
  const controls = [...section.querySelectorAll<HTMLInputElement>(answerable)];
  const visible = controls.filter((control) => control.checkVisibility());
  (visible.find(({ checked }) => checked) ?? visible[0])?.focus({ preventScroll: true });
}

/**
 * Moves the focus to the question that all errors are about, or announces the error if the focus is already
 * there. Returns false if there are several.
 */
function focusOnlyQuestion(page: Page, [error, ...others]: readonly FieldError[]): boolean {
  const control = error && byId(error.field);
  if (!control?.matches(answerable)) return false;
  if (others.some(({ field }) => field !== error!.field)) return false;
  if (fieldBoxOf(error!.field)?.contains(document.activeElement)) page.announce(error!.message);
  else control.focus();
  return true;
}

/**
 * Submits on Enter where the browser does not: in long texts and lists, and if no control has the focus. Touch
 * keyboards have no Shift + Enter, so Enter makes a new line there. A key that is held down continues only once.
 */
function enter(form: HTMLFormElement, { target, shiftKey, repeat }: KeyboardEvent): boolean {
  const isText = target instanceof HTMLTextAreaElement;
  if (isText && (shiftKey || matchMedia('(hover: none)').matches)) return false;
  if (repeat) return true;
  if (!isText && !(target instanceof Element && target.matches('select, body, h1, h2'))) return false;
  form.requestSubmit(form.querySelector<HTMLButtonElement>('button.unseen'));
  return true;
}

const isChoice = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && (target.type === 'radio' || target.type === 'checkbox');

const isMirrored = (): boolean => document.documentElement.dir === 'rtl';

function choose(target: HTMLInputElement, key: string, code: string): boolean {
  const box = target.closest('.options');
  const options = [...(box?.querySelectorAll<HTMLInputElement>('.option:not(.none) > input') ?? [])];
  const forward = isMirrored() ? -1 : 1;
  const moves = { ArrowDown: 1, ArrowUp: -1, ArrowRight: forward, ArrowLeft: -forward };
  if (target.type === 'checkbox' && Object.hasOwn(moves, key)) {
    options.at((options.indexOf(target) + moves[key as keyof typeof moves]) % options.length)?.focus();
    return true;
  }
  // On a keyboard of another script, the key that has this Latin letter.
  const latin = /^[a-z]$/i.test(key) ? key : key.length === 1 && /^Key([A-Z])$/.exec(code)?.[1];
  const letter = latin ? latin.toLowerCase().charCodeAt(0) - 97 : -1;
  // A digit chooses the option with this value (on a scale), or otherwise the option at this position.
  const matching = options.find(({ value }) => /^\d$/.test(key) && value === key);
  const option = matching ?? options[/^[1-9]$/.test(key) ? Number(key) - 1 : letter];
  option?.click();
  option?.focus();
  return option !== undefined;
}

/** The shortest swipe, in CSS pixels, and the edge of the screen, where a swipe is the browser's own. */
const [swipeLength, screenEdge] = [64, 24];

/** Goes back when a finger moves across the page, from left to right, or the other way in mirrored languages. */
function goBackBySwipe(form: HTMLFormElement): void {
  let from: Touch | undefined;
  document.addEventListener(
    'touchstart',
    ({ touches: [touch, second], target }) => {
      const isFree = touch && !second && Math.min(touch.clientX, innerWidth - touch.clientX) > screenEdge;
      from = isFree && !isDragged(target) ? touch : undefined;
    },
    { passive: true },
  );
  document.addEventListener('touchend', ({ changedTouches: [to] }) => {
    if (!from || !to) return;
    const across = (to.clientX - from.clientX) * (isMirrored() ? -1 : 1);
    const isSwipe = across > swipeLength && Math.abs(to.clientY - from.clientY) < across / 2;
    from = undefined;
    if (isSwipe && getSelection()?.isCollapsed !== false)
      form.querySelector<HTMLElement>('.actions .back:not([hidden])')?.click();
  });
}

/** Whether a finger moves or scrolls something here: a slider, a drawing, a dragged item, a wide table. */
function isDragged(target: EventTarget | null): boolean {
  for (let at = target; at instanceof Element; at = at.parentElement) {
    const { touchAction, overflowX } = getComputedStyle(at);
    const isScrolled = /auto|scroll/.test(overflowX) && at.scrollWidth > at.clientWidth;
    if (isScrolled || !/auto|manipulation/.test(touchAction) || at.matches('[type=range]')) return true;
  }
  return false;
}
