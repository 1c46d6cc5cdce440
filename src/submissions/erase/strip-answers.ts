import type { AnswerRow, Answers } from '#ast/answers.ts';
import { identifies } from '#ast/identifies.ts';
import { isRecord } from '#ast/json.ts';
import { type Form, type InputElement, listQuestions } from '#ast/tree.ts';

/**
 * Answers without those that tell who somebody is: of elements that ask for that, and wherever `isSaid` finds the person.
 * Answers to what the form does not ask go too, as nobody can say what they are.
 */
export function stripAnswers(form: Form, answers: Answers, isSaid: (text: string) => boolean): Answers {
  const stays = (input: InputElement, value: unknown): boolean =>
    value !== undefined && !identifies(input) && !saidIn(value, isSaid);
  const kept: Answers = {};
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    const value = Object.hasOwn(answers, id) ? answers[id] : undefined;
    if (value === undefined) continue;
    if (question.kind === 'input') {
      if (stays(question.element, value)) kept[id] = value;
      continue;
    }
    const rows = Array.isArray(value) ? value : [];
    kept[id] = rows.map((row) => cellsOf(row, question.inputs, stays));
  }
  return kept;
}

const cellsOf = (
  row: unknown,
  inputs: readonly InputElement[],
  stays: (input: InputElement, value: unknown) => boolean,
): AnswerRow => {
  const byId = new Map(inputs.map((input) => [input.attrs.id, input]));
  return Object.fromEntries(
    Object.entries(row as AnswerRow).filter(([id, value]) => byId.has(id) && stays(byId.get(id)!, value)),
  );
};

/** Whether a text or a number in it, however deep, is one that `isSaid` finds. */
export function saidIn(value: unknown, isSaid: (text: string) => boolean): boolean {
  if (typeof value === 'string' || typeof value === 'number') return isSaid(String(value));
  if (Array.isArray(value)) return value.some((item) => saidIn(item, isSaid));
  return isRecord(value) && Object.values(value).some((item) => saidIn(item, isSaid));
}
