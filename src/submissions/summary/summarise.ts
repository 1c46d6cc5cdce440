import type { AnswerRow, Answers } from '#ast/answers.ts';
import { isRecord, own } from '#ast/json.ts';
import type { Column } from '../columns.ts';
import type { ElementSummary } from '../shapes.ts';
import { openTally } from './tallies.ts';

/** Free texts that a question shows, and the most that is shown of each. */
const latestTexts = 5;
const textLength = 280;

type Question = Column['inputs'][number];

/**
 * Adds up the answers to every question, one submission after the other, the newest first. The submissions come in
 * batches, so that memory does not grow with their number (only numbers are kept, for the histogram).
 * @param identifying the ids of elements by which a person is known or reached: their texts are left out.
 */
export async function summariseElements(
  columns: readonly Column[],
  batches: AsyncIterable<readonly { id: string; answers: Answers }[]>,
  identifying: ReadonlySet<string> = new Set(),
): Promise<{ sampled: number; elements: ElementSummary[] }> {
  const counters = columns.map((column) => ({
    column,
    top: openCounter(column, column, { group: null, identifying }),
    inner: column.inputs.map((input) => openCounter(input, column, { group: column.label, identifying })),
  }));
  const addAll = ({ id, answers }: { id: string; answers: Answers }): void => {
    for (const { column, top, inner } of counters) {
      const answer = own(answers, column.id);
      if (answer === undefined) continue;
      top.add(id, answer);
      if (inner.length === 0 || !Array.isArray(answer)) continue;
      for (const row of (answer as unknown[]).filter(isRecord)) {
        for (const counter of inner) counter.add(id, own(row as AnswerRow, counter.id));
      }
    }
  };
  let sampled = 0;
  for await (const batch of batches) {
    sampled += batch.length;
    for (const submission of batch) addAll(submission);
  }
  return {
    sampled,
    elements: counters.flatMap(({ top, inner }) => [top, ...inner].map((counter) => counter.result())),
  };
}

function openCounter(
  question: Question,
  { is_retired }: Column,
  { group, identifying }: { group: string | null; identifying: ReadonlySet<string> },
) {
  const tally = openTally(question, identifying.has(question.id));
  const texts: ElementSummary['texts'] = [];
  let answered = 0;
  return {
    id: question.id,
    add(submissionId: string, answer: unknown): void {
      if (answer === undefined) return;
      answered += 1;
      tally.add(answer);
      if (texts.length < latestTexts && typeof answer === 'string') {
        texts.push({ submission_id: submissionId, text: answer.slice(0, textLength).toWellFormed() });
      }
    },
    result(): ElementSummary {
      const { id, label, type } = question;
      const summary = tally.result();
      return {
        id,
        label,
        type,
        is_retired,
        group,
        answered,
        ...summary,
        texts: summary.chart === 'texts' ? texts : [],
      };
    },
  };
}
