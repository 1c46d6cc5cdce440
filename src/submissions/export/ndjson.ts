import { own } from '#ast/json.ts';
import type { Column } from '../columns.ts';
import type { ExportedSubmission } from './cells.ts';

/** A submission as a line of JSON: its answers as the API has them, by element id, those of `columns` in their order. */
export function ndjsonLine(columns: readonly Column[], { answers, ...rest }: ExportedSubmission): string {
  const chosen = columns.flatMap(({ id }) => {
    const answer = own(answers, id);
    return answer === undefined ? [] : [[id, answer] as const];
  });
  return `${JSON.stringify({ ...rest, answers: Object.fromEntries(chosen) })}\n`;
}
