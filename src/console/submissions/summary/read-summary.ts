import type { Answers } from '#ast/answers.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { ExportedSubmission } from '#submissions/export/cells.ts';
import { readColumns } from '../columns.ts';
import type { Summary } from '../shapes.ts';
import { readWholeView, type View } from '../view.ts';
import { countDays } from './queries.ts';
import { summariseElements } from './summarise.ts';

/**
 * So many of the newest submissions are added up, which bounds the time: 0.9 s for 100,000 of 14 answers. Adding up
 * in SQL took 4.4 s for the same, as every function there parses the JSON again.
 */
const sampleSize = 100_000;

/** PostgreSQL's name for a wrong parameter, here the time zone. */
const invalidParameter = '22023';

/**
 * What a form's submissions say together: how many a day, how many were completed, and the answers to each question.
 * Days and totals are exact; the answers are those of the newest submissions.
 * @throws ApiError bad_request for an unknown time zone.
 */
export async function readSummary(database: Database, view: View, timeZone: string): Promise<Summary> {
  const { workspace_id, form_id, from_id, to_id } = view.filter;
  const days = await countDays(database, {
    workspace_id,
    form_id,
    from_id,
    to_id,
    time_zone: timeZone,
  }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === invalidParameter) {
      throw new ApiError('bad_request', '"time_zone" must be a time zone like Europe/Berlin.');
    }
    throw error;
  });
  const columns = await readColumns(database, { workspaceId: workspace_id, formId: form_id });
  const { sampled, elements } = await summariseElements(columns, newest(readWholeView(database, view)));
  const completed = days.reduce((sum, day) => sum + day.completed, 0);
  const incomplete = days.reduce((sum, day) => sum + day.incomplete, 0);
  const all = completed + incomplete;
  return {
    completed,
    incomplete,
    completion_rate: all === 0 ? null : completed / all,
    days,
    sampled,
    elements,
  };
}

async function* newest(
  batches: AsyncIterable<readonly ExportedSubmission[]>,
): AsyncGenerator<{ id: string; answers: Answers }> {
  let left = sampleSize;
  for await (const batch of batches) {
    for (const { id, answers } of batch) {
      yield { id, answers: JSON.parse(answers) as Answers };
      left -= 1;
      if (left === 0) return;
    }
  }
}
