import type { Page } from './page.ts';

const answerable = 'input:not([type=hidden]), select, textarea';

/**
 * Adds keyboard control for forms that show one question at a time. The opened question gets the focus, Enter
 * continues, digits and letters choose an option, and arrow keys move between checkboxes as they do between
 * radio buttons.
 */
export function start(page: Page): void {
  const { form, sections, data } = page;
  form.addEventListener('step', () => focusQuestion(sections[page.step]!));
  form.addEventListener('keydown', (event) => {
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    const { target, key } = event;
    const done =
      key === 'Enter' ? enter(form, target, event.shiftKey) : isChoice(target) && choose(target, key);
    if (done) event.preventDefault();
  });
  for (const control of form.querySelectorAll('textarea')) {
    const hint = document.createElement('p');
    control.after(Object.assign(hint, { className: 'count keys', textContent: data.singly!.newLine }));
  }
}

function focusQuestion(section: HTMLElement): void {
  const controls = [...section.querySelectorAll<HTMLInputElement>(answerable)];
  const seen = controls.filter((control) => control.checkVisibility());
  (seen.find(({ checked }) => checked) ?? seen[0])?.focus({ preventScroll: true });
}

/**
 * Submits on Enter where the browser does not. Touch keyboards have no Shift + Enter, so on these Enter
 * inserts a line break.
 */
function enter(form: HTMLFormElement, target: EventTarget | null, isShifted: boolean): boolean {
  const isText = target instanceof HTMLTextAreaElement;
  const isLine = isText && (isShifted || matchMedia('(hover: none)').matches);
  if (!(isText || target instanceof HTMLSelectElement) || isLine) return false;
  form.requestSubmit(form.querySelector<HTMLButtonElement>('button.unseen'));
  return true;
}

const isChoice = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && (target.type === 'radio' || target.type === 'checkbox');

function choose(target: HTMLInputElement, key: string): boolean {
  const box = target.closest('.options');
  const options = [...(box?.querySelectorAll<HTMLInputElement>('.option:not(.none) > input') ?? [])];
  const isMirrored = document.documentElement.dir === 'rtl';
  const moves = {
    ArrowDown: 1,
    ArrowUp: -1,
    ArrowRight: isMirrored ? -1 : 1,
    ArrowLeft: isMirrored ? 1 : -1,
  };
  if (target.type === 'checkbox' && Object.hasOwn(moves, key)) {
    options.at((options.indexOf(target) + moves[key as keyof typeof moves]) % options.length)?.focus();
    return true;
  }
  const letter = /^[a-z]$/i.test(key) ? key.toLowerCase().charCodeAt(0) - 97 : -1;
  // A digit chooses the option with this value (on a scale), or otherwise the option at this position.
  const named = options.find(({ value }) => /^\d$/.test(key) && value === key);
  const option = named ?? options[/^[1-9]$/.test(key) ? Number(key) - 1 : letter];
  option?.click();
  option?.focus();
  return option !== undefined;
}
