import type { Answers } from '#ast/answers.ts';
import { own } from '#ast/json.ts';
import type { Column } from '../columns.ts';
import type { ExportedSubmission } from './cells.ts';

/** A submission as a line of JSON: its answers as the API has them, by element id, those of `columns` in their order. */
export function ndjsonLine(columns: readonly Column[], submission: ExportedSubmission): string {
  const { id, status, created_at, completed_at } = submission;
  const answers = JSON.parse(submission.answers) as Answers;
  const reference = JSON.parse(submission.reference) as object;
  const chosen = columns.flatMap(({ id }) => {
    const answer = own(answers, id);
    return answer === undefined ? [] : [[id, answer] as const];
  });
  const line = { id, status, reference, created_at, completed_at, answers: Object.fromEntries(chosen) };
  return `${JSON.stringify(line)}\n`;
}
