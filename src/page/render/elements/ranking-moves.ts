import { isRecord } from '#ast/basics/json.ts';
import { findInput, indexQuestionsById, type RawAnswers, rawAnswersOfRow } from '#ast/form/fields.ts';
import { type Form, listQuestions, optionsOf } from '#ast/form/tree.ts';

/** The name of a ranking's buttons. */
export const moveControl = '_move';

/**
 * The press of a ranking's button. `index` is the option's place in the shown order. `use` accepts the shown
 * order, and `clear` removes the answer.
 */
export type RankingMove = {
  readonly to: 'up' | 'down' | 'use' | 'clear';
  readonly index: number;
  readonly field: string;
};

/** Returns the value of a button. */
export const formatMove = ({ to, index, field }: RankingMove): string => `${to}:${index}:${field}`;

export function parseMove(value: string): RankingMove | undefined {
  const [, to, index, field] = /^(up|down|use|clear):(\d{1,3}):(.+)$/s.exec(value) ?? [];
  return to && field ? { to: to as RankingMove['to'], index: Number(index), field } : undefined;
}

/** Returns the order with an option moved to another place. */
const moveOption = (order: readonly string[], from: number, to: number): string[] =>
  order.toSpliced(from, 1).toSpliced(to, 0, ...order.slice(from, from + 1));

/** Returns all options in the order that the page shows: the ranked ones first. */
export function shownOrder(options: readonly string[], answer: unknown): string[] {
  const given: readonly unknown[] = [answer].flat();
  return [...new Set([...given.filter((id) => options.includes(id as string)), ...options])] as string[];
}

/** Changes the answer to a ranking in `raw`, like the script. Returns the control that gets the focus. */
export function applyMove(form: Form, raw: RawAnswers, { to, index, field }: RankingMove): string {
  const found = findInput(indexQuestionsById(listQuestions(form)), field);
  const holder = found?.row ? rawAnswersOfRow(raw, found.row) : raw;
  if (found?.input.type !== 'ranking' || !isRecord(holder)) return field;
  const { id } = found.input.attrs;
  const order = shownOrder(
    optionsOf(found.input).map((option) => option.id),
    holder[id],
  );
  if (to === 'clear') Reflect.deleteProperty(holder, id);
  else if (to === 'use') holder[id] = order;
  else {
    const place = Math.max(0, Math.min(order.length - 1, to === 'up' ? index - 1 : index + 1));
    holder[id] = moveOption(order, index, place);
    return formatMove({ to, index: place, field });
  }
  return field;
}
