import type { AnswerRow, Answers } from '#ast/answers/check-answers.ts';
import { isRecord } from '#ast/basics/json.ts';
import { identifiesPerson } from '#ast/form/identifies.ts';
import { type Form, type InputElement, listQuestions } from '#ast/form/tree.ts';

/** The minimum length of a text to search for: a shorter text may occur in any answer by chance. */
const leastLength = 4;

/**
 * Returns the answers without those that identify the person: answers to identifying elements, and other
 * answers that contain one of these or in which `isMatch` finds the person. Answers to unknown elements are
 * also removed, because they may identify the person.
 */
export function stripAnswers(form: Form, answers: Answers, isMatch: (text: string) => boolean): Answers {
  const names = identifyingTexts(form, answers);
  const isIdentifying = (text: string): boolean =>
    isMatch(text) || names.some((name) => text.toLowerCase().includes(name));
  const stays = (input: InputElement, value: unknown): boolean =>
    value !== undefined && !identifiesPerson(input) && !containsMatch(value, isIdentifying);
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

/** Returns the answers to identifying elements, in lower case. */
function identifyingTexts(form: Form, answers: Answers): string[] {
  const texts: string[] = [];
  const add = (inputs: readonly InputElement[], given: Readonly<Record<string, unknown>>): void => {
    for (const input of inputs) {
      const value = Object.hasOwn(given, input.attrs.id) ? given[input.attrs.id] : undefined;
      if (typeof value === 'string' && value.length >= leastLength && identifiesPerson(input))
        texts.push(value.toLowerCase());
    }
  };
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    if (question.kind === 'input') add([question.element], answers);
    else if (Object.hasOwn(answers, id))
      for (const row of answers[id] as AnswerRow[]) add(question.inputs, row);
  }
  return texts;
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

/** Whether `isMatch` accepts a text or number in the value, at any depth. */
export function containsMatch(value: unknown, isMatch: (text: string) => boolean): boolean {
  if (typeof value === 'string' || typeof value === 'number') return isMatch(String(value));
  if (Array.isArray(value)) return value.some((item) => containsMatch(item, isMatch));
  return isRecord(value) && Object.values(value).some((item) => containsMatch(item, isMatch));
}
