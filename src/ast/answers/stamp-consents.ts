import { getProperty, isRecord } from '../basics/json.ts';
import { memoizeByObject } from '../basics/memoize.ts';
import { answerKindOf, type Form, type InputElement, listQuestions, type Question } from '../form/tree.ts';
import type { ConsentAnswer } from '../types/rules.ts';
import type { AnswerRow, Answers } from './fill.ts';

/**
 * The version of the form with which a consent was shown, and the time. Only an import keeps the times that
 * its answers contain; times sent by a visitor are ignored.
 */
type ConsentStamp = { readonly version: number; readonly at: Date; readonly keepsMoments?: boolean };

const isConsent = (input: InputElement): boolean => answerKindOf(input) === 'consent';

const consentsIn = memoizeByObject((form: Form): readonly Question[] =>
  listQuestions(form).filter((question) =>
    question.kind === 'input' ? isConsent(question.element) : question.inputs.some(isConsent),
  ),
);

/**
 * Stamps each consent with the version and the time. A consent that was given earlier keeps its old stamp and
 * text, however often the answers change. In a row, its time (`at`) identifies it.
 */
export function stampConsents(
  form: Form,
  answers: Answers,
  stamp: ConsentStamp,
  before: Answers = {},
): Answers {
  const stamped: Answers = { ...answers };
  for (const question of consentsIn(form)) {
    const { id } = question.element.attrs;
    const given = getProperty(answers, id);
    if (given === undefined) continue;
    const earlier = getProperty(before, id);
    if (question.kind === 'input') stamped[id] = stampOne(given as ConsentAnswer, stamp, earlier);
    else {
      const earlierRows = (Array.isArray(earlier) ? earlier : []) as readonly AnswerRow[];
      stamped[id] = (given as AnswerRow[]).map((row) =>
        stampRow(row, question.inputs.filter(isConsent), stamp, earlierRows),
      );
    }
  }
  return stamped;
}

function stampRow(
  row: AnswerRow,
  consents: readonly InputElement[],
  stamp: ConsentStamp,
  before: readonly AnswerRow[],
): AnswerRow {
  const stamped = consents.flatMap(({ attrs: { id } }) => {
    const given = getProperty(row, id) as ConsentAnswer | undefined;
    if (given === undefined) return [];
    // Row numbers can change, so a consent in a row is found by its time.
    const earlier = before.map((each) => getProperty(each, id) as ConsentAnswer | undefined);
    const same = earlier.find((each) => given.at !== undefined && each?.at === given.at);
    return [[id, stampOne(given, stamp, same)] as const];
  });
  return { ...row, ...Object.fromEntries(stamped) };
}

const stampOne = (given: ConsentAnswer, stamp: ConsentStamp, earlier: unknown): ConsentAnswer =>
  isRecord(earlier) && typeof earlier['at'] === 'string'
    ? (earlier as ConsentAnswer)
    : {
        ...given,
        version: stamp.version,
        at: (stamp.keepsMoments ? given.at : undefined) ?? stamp.at.toISOString(),
      };
