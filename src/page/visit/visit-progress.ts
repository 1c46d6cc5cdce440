/**
 * The progress of a visit: the steps reached, in order, and the question touched last. The page passes it on
 * (`_visit`) from post to post. It does not identify the visitor (docs/decisions/0050-visit-counts.md).
 */
export type VisitProgress = { readonly steps: readonly number[]; readonly question: string };

/** Two states of a visit: the progress already counted (`was`), and the progress now (`is`). */
export type ProgressChange = { readonly was: VisitProgress; readonly is: VisitProgress };

/** The control that carries the progress of a visit. */
export const visitControl = '_visit';

/** Progress of a visit before the visitor touches a question. */
export const noVisitProgress: VisitProgress = { steps: [], question: '' };

/** Formats progress as `0.2.3:email`, or as an empty string if the visit has not begun. */
export const formatVisitProgress = ({ steps, question }: VisitProgress): string =>
  steps.length === 0 ? '' : `${steps.join('.')}:${question}`;

/** Formats progress reported by the page's script as `<counted>|<now>`. */
export const formatProgressChange = ({ was, is }: ProgressChange): string =>
  `${formatVisitProgress(was)}|${formatVisitProgress(is)}`;

function parseVisitProgress(text: string): VisitProgress {
  // An id may contain colons.
  const [, steps = '', question = ''] = /^([^:]*):?(.*)$/.exec(text) ?? [];
  return { steps: steps === '' ? [] : steps.split('.').map(Number), question };
}

/** Parses the result of formatVisitProgress or formatProgressChange. */
export function parseProgressChange(text: string): ProgressChange {
  const [was = '', is = was] = text.split('|', 2);
  return { was: parseVisitProgress(was), is: parseVisitProgress(is) };
}

/** Adds a reached step to the progress. A step that was reached before is not added again. */
export const addReachedStep = ({ steps, question }: VisitProgress, step: number): VisitProgress => ({
  steps: steps.includes(step) ? steps : [...steps, step],
  question,
});
