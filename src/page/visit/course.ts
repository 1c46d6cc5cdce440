/**
 * Progress of a visit: the steps that were reached, in order, and the question that was touched last. The
 * page carries it (`_visit`) from post to post. It does not identify the visitor
 * (docs/decisions/0050-visit-counts.md).
 */
export type Course = { readonly steps: readonly number[]; readonly question: string };

/** Two states of a visit: the progress already counted (`was`), and the progress now (`is`). */
export type Way = { readonly was: Course; readonly is: Course };

/** The control that carries the progress of a visit. */
export const visitControl = '_visit';

/** Progress of a visit before the visitor touches a question. */
export const notBegun: Course = { steps: [], question: '' };

/** Formats progress as `0.2.3:email`; an empty text if the visit has not begun. */
export const writeCourse = ({ steps, question }: Course): string =>
  steps.length === 0 ? '' : `${steps.join('.')}:${question}`;

/** Formats progress reported by the page's script as `<counted>|<now>`. */
export const writeWay = ({ was, is }: Way): string => `${writeCourse(was)}|${writeCourse(is)}`;

function readCourse(text: string): Course {
  // An id may contain colons.
  const [, steps = '', question = ''] = /^([^:]*):?(.*)$/.exec(text) ?? [];
  return { steps: steps === '' ? [] : steps.split('.').map(Number), question };
}

/** Parses the result of writeCourse or writeWay. */
export function readWay(text: string): Way {
  const [was = '', is = was] = text.split('|', 2);
  return { was: readCourse(was), is: readCourse(is) };
}

/** Adds a reached step to the progress. A step that was reached before is not added again. */
export const reachStep = ({ steps, question }: Course, step: number): Course => ({
  steps: steps.includes(step) ? steps : [...steps, step],
  question,
});
