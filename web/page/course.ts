import { isPageName } from '#ast/page-names.ts';
import {
  type Course,
  reachStep,
  readWay,
  visitControl,
  writeCourse,
  writeWay,
} from '#page/counting/course.ts';
import { keep } from './kept.ts';
import type { Page } from './page.ts';
import { questionOf } from './question-of.ts';
import { isSending } from './submitting.ts';

/**
 * Keeps in the page how far the visit has come, which goes along when the form is sent, and tells the server of it when the
 * page is hidden or left: once a visit, and of nobody (docs/decisions/0050-visits.md).
 */
export function followCourse(page: Page): void {
  const { form } = page;
  const control = form.querySelector<HTMLInputElement>(`[name=${visitControl}]`);
  // An edited submission, and a visit that wants to be left out, have none.
  if (!control) return;
  let { was, is } = readWay(control.value);
  const note = (next: Course): void => {
    is = next;
    control.value = writeWay({ was, is });
  };
  form.addEventListener('input', ({ target }) => {
    const [question = ''] = questionOf((target as Element).getAttribute('name') ?? '').split('[', 1);
    if (question && !isPageName(question)) note({ ...reachStep(is, page.step), question });
  });
  form.addEventListener('step', () => note(reachStep(is, page.step)));
  let isPosted = false;
  form.addEventListener('submit', ({ defaultPrevented }) => (isPosted ||= !defaultPrevented));
  const tell = (): void => {
    const isNew = writeCourse(was) !== writeCourse(is);
    // What is sent with the form is counted there.
    if (!isNew || isPosted || isSending(page)) return;
    const [, , id] = location.pathname.split('/');
    const told = new URLSearchParams({ [visitControl]: control.value });
    if (!navigator.sendBeacon(`/f/${id}/visit`, told)) return;
    was = is;
    note(is);
    // A reload goes on with the visit as it was told.
    keep(page);
  };
  addEventListener('pagehide', tell);
  // A phone ends pages that are hidden without another word.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') tell();
  });
}
