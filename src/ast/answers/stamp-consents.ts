import { isRecord, own } from '../json.ts';
import { type Form, type InputElement, kindOf, listQuestions, type Question } from '../tree.ts';
import type { ConsentAnswer } from '../types/rules.ts';
import type { AnswerRow, Answers } from './fill.ts';

/** By what a consent is known later: the version of the form that was shown, and when, ISO 8601 in UTC. */
export type ConsentStamp = Required<Pick<ConsentAnswer, 'version' | 'at'>>;

// A form never changes, and most have none.
const known = new WeakMap<Form, readonly Question[]>();

const isConsent = (input: InputElement): boolean => kindOf(input) === 'consent';

function consentsIn(form: Form): readonly Question[] {
  const found =
    known.get(form) ??
    listQuestions(form).filter((question) =>
      question.kind === 'input' ? isConsent(question.element) : question.inputs.some(isConsent),
    );
  known.set(form, found);
  return found;
}

/**
 * Checked answers as they are stored: each consent with its stamp. One that was given before keeps that of then, with the
 * text that was read then, however often the answers are changed.
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
    const given = own(answers, id);
    if (given === undefined) continue;
    const earlier = own(before, id);
    if (question.kind === 'input') stamped[id] = stampOne(given as ConsentAnswer, stamp, earlier);
    else {
      const earlierRows = (Array.isArray(earlier) ? earlier : []) as readonly AnswerRow[];
      stamped[id] = (given as AnswerRow[]).map((row, index) =>
        stampRow(row, question.inputs.filter(isConsent), stamp, earlierRows[index] ?? {}),
      );
    }
  }
  return stamped;
}

function stampRow(
  row: AnswerRow,
  consents: readonly InputElement[],
  stamp: ConsentStamp,
  before: AnswerRow,
): AnswerRow {
  const stamped = consents.flatMap(({ attrs: { id } }) => {
    const given = own(row, id);
    return given === undefined
      ? []
      : [[id, stampOne(given as ConsentAnswer, stamp, own(before, id))] as const];
  });
  return { ...row, ...Object.fromEntries(stamped) };
}

const stampOne = (given: ConsentAnswer, stamp: ConsentStamp, earlier: unknown): ConsentAnswer =>
  isRecord(earlier) && typeof earlier['at'] === 'string'
    ? (earlier as ConsentAnswer)
    : { ...given, ...stamp };
