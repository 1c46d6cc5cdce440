import { isPageName } from '#ast/page-names.ts';
import { findObstacles } from './answers.ts';
import { followInSummary, isInvalid, naming, showAtField } from './errors.ts';
import { questionOf } from './question-of.ts';
import type { Page } from './page.ts';

/**
 * Checks a field when the visitor leaves it after writing in it, and from then on at each change until it is right
 * (docs/rules.md P3). What the leaving of a field finds is said politely: the focus stays where the visitor went.
 */
export function checkFields(page: Page): void {
  const { form } = page;
  const written = new Set<string>();
  const check = (field: string): string | undefined => {
    const messages = findObstacles(page, page.step).flatMap((error) =>
      error.field === field ? error.message : [],
    );
    showAtField(field, messages);
    followInSummary(page, field, messages);
    return messages[0];
  };
  form.addEventListener('input', ({ target }) => {
    const field = nameOf(target);
    if (!field) return;
    written.add(field);
    if (isInvalid(field)) check(field);
  });
  form.addEventListener('focusout', ({ target, relatedTarget }) => {
    const field = nameOf(target);
    // Between the controls of one question the answer is not complete yet.
    if (!field || nameOf(relatedTarget) === field || !written.delete(field)) return;
    whenReleased(() => {
      const message = check(field);
      if (message) page.announce(naming(page)({ field, message }));
    });
  });
  // A sentence that comes while a button is pressed would push the button away from under the pointer.
  let isPressing = false;
  addEventListener('pointerdown', () => (isPressing = true));
  for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (isPressing = false));
  const whenReleased = (work: () => void): void => {
    if (isPressing) addEventListener('pointerup', () => setTimeout(work), { once: true });
    else work();
  };
  form.addEventListener('files', (event) => {
    check((event as CustomEvent<string>).detail);
  });
}

/** The question that a control answers; none for files, which are checked as they come, and the page's own. */
function nameOf(target: EventTarget | null): string | undefined {
  const isControl =
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement;
  if (!isControl || target.type === 'file') return undefined;
  const name = questionOf(target.name);
  return isPageName(name) ? undefined : name;
}
