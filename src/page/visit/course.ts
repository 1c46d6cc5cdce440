/**
 * How far a visit has come: the steps that were reached, in their order, and the question that was touched last. The page
 * carries it (`_visit`) from post to post; it says nothing of who it is (docs/decisions/0050-visit-counts.md).
 */
export type Course = { readonly steps: readonly number[]; readonly question: string };

/** A visit whose steps and question are counted, and the way that it has come since. */
export type Way = { readonly was: Course; readonly is: Course };

/** The control of the page that carries it. */
export const visitControl = '_visit';

/** Nothing was touched yet. */
export const notBegun: Course = { steps: [], question: '' };

/** `0.2.3:email`; a visit that has not begun is an empty text. */
export const writeCourse = ({ steps, question }: Course): string =>
  steps.length === 0 ? '' : `${steps.join('.')}:${question}`;

/** `<counted>|<since>`, where the page's script has more to tell. */
export const writeWay = ({ was, is }: Way): string => `${writeCourse(was)}|${writeCourse(is)}`;

function readCourse(text: string): Course {
  // An id may have colons of its own.
  const [, steps = '', question = ''] = /^([^:]*):?(.*)$/.exec(text) ?? [];
  return { steps: steps === '' ? [] : steps.split('.').map(Number), question };
}

/** Reads either text. */
export function readWay(text: string): Way {
  const [was = '', is = was] = text.split('|', 2);
  return { was: readCourse(was), is: readCourse(is) };
}

/** The visit with a step that it comes to; whoever was there before is not there for the first time. */
export const reachStep = ({ steps, question }: Course, step: number): Course => ({
  steps: steps.includes(step) ? steps : [...steps, step],
  question,
});
