import { type InputType, inputRules } from '#ast/input-rules.ts';
import {
  type Comparison,
  type Condition,
  type ConditionValue,
  comparisonsOf,
  type Operator,
} from '#ast/logic/condition.ts';
import { alignMoments } from '#ast/rules/moments.ts';
import { trimText } from '#ast/text.ts';
import type { AnswerKind } from '#ast/types/rules.ts';

/** What is compared: an answer of a type, or in a row of a matrix, or a reference value. Of a group is only asked whether it is answered. */
export type Subject = InputType | 'composite' | 'row' | 'reference';

type Around = {
  /** Of the element that a comparison names. */
  readonly typeOf: (comparison: Comparison) => Subject;
  /** YYYY-MM-DD in the form's time zone. */
  readonly today: string;
  readonly asksReference: boolean;
};

/**
 * A condition as one JSON path. It holds where #ast's own `isTrue` does: each comparison looks for a value that meets
 * it, so what is missing or of another type meets none, and its contrary does. Texts are written into it as JSON, and
 * within patterns without a meaning of their own.
 */
export const wherePath = (condition: Condition, around: Around): string =>
  pathOf(condition, { ...around, answers: around.asksReference ? '$.answers' : '$' });

/** Whether a condition is asked of `{"answers": …, "reference": …}`, and not of the answers alone. */
export const asksReference = (condition: Condition): boolean =>
  comparisonsOf(condition).some((comparison) => 'reference' in comparison);

type Within = Around & { readonly answers: string };

function pathOf(condition: Condition, around: Within): string {
  if ('all' in condition) return joined(condition.all, ' && ', around);
  if ('any' in condition) return joined(condition.any, ' || ', around);
  if ('not' in condition) return `!(${pathOf(condition.not, around)})`;
  const isReference = 'reference' in condition;
  // What is chosen in a row of a matrix is one option or several, and each is compared alike.
  const isRow = !isReference && condition.row !== undefined;
  const subject = isReference ? 'reference' : isRow ? 'row' : around.typeOf(condition);
  const place = isReference
    ? `$.reference.${JSON.stringify(condition.reference)}`
    : `${around.answers}.${JSON.stringify(condition.element)}${rowPath(condition)}`;
  const { sign, test } = tests[condition.is];
  return `${sign}exists(${place}${test({ comparison: condition, subject, today: around.today })})`;
}

/** Behind the place of a matrix that of one of its rows. */
const rowPath = ({ row }: { row?: string }): string => (row === undefined ? '' : `.${JSON.stringify(row)}`);

const joined = (parts: readonly Condition[], sign: string, around: Within): string =>
  `(${parts.map((part) => pathOf(part, around)).join(sign)})`;

type Asked = { readonly comparison: Comparison; readonly subject: Subject; readonly today: string };
type Test = { readonly sign: '' | '!'; readonly test: (asked: Asked) => string };

const among = (asked: Asked): string =>
  found(valuesOf(asked).map((value) => equalTo[kindOf(asked.subject)](value, asked.today)));
const containing = (asked: Asked): string =>
  kindOf(asked.subject) === 'choices'
    ? among(asked)
    : found(valuesOf(asked).map((value) => like(literal(String(value)), 'i')));
/** A blank answer is not kept; a reference value may be one. */
const answered = ({ subject }: Asked): string => (subject === 'reference' ? found([like('\\S')]) : '');
const ordered =
  (sign: '>' | '>=' | '<' | '<=') =>
  (asked: Asked): string =>
    found(valuesOf(asked).map((value) => inOrder(value, sign, asked)));

const tests: Readonly<Record<Operator, Test>> = {
  equals: { sign: '', test: among },
  not_equals: { sign: '!', test: among },
  one_of: { sign: '', test: among },
  contains: { sign: '', test: containing },
  not_contains: { sign: '!', test: containing },
  greater_than: { sign: '', test: ordered('>') },
  at_least: { sign: '', test: ordered('>=') },
  less_than: { sign: '', test: ordered('<') },
  at_most: { sign: '', test: ordered('<=') },
  answered: { sign: '', test: answered },
  not_answered: { sign: '!', test: answered },
};

/** Whether a comparison holds where there is no answer. */
export const holdsUnanswered = (is: Operator): boolean => tests[is].sign === '!';

const found = (conditions: readonly string[]): string => ` ? (${conditions.join(' || ')})`;

const valuesOf = ({ comparison: { value } }: Asked): readonly (string | number | boolean)[] =>
  [value ?? []].flat() as readonly Exclude<ConditionValue, readonly unknown[]>[];

type Kind = Exclude<AnswerKind, 'order' | 'grid' | 'consent' | 'files'> | 'reference' | 'presence';

function kindOf(subject: Subject): Kind {
  if (subject === 'reference') return 'reference';
  if (subject === 'composite') return 'presence';
  if (subject === 'row') return 'choices';
  const { kind } = inputRules[subject];
  return kind === 'files' || kind === 'order' || kind === 'grid' || kind === 'consent' ? 'presence' : kind;
}

type Value = string | number | boolean;
const exactly = (value: Value): string => `@ == ${JSON.stringify(value)}`;
/** A text that is this one, whatever its case and the space around it. */
export const sameText = (value: Value): string => like(`^\\s*${literal(String(value))}\\s*$`, 'i');

/** What an answer of each kind meets that equals a value. */
const equalTo: Readonly<Record<Kind, (value: Value, today: string) => string>> = {
  text: sameText,
  number: exactly,
  boolean: exactly,
  choice: exactly,
  choices: exactly,
  moment: (value, today) => {
    const { limit, isDay } = limitOf(String(value), today);
    return isDay ? `@ starts with ${JSON.stringify(limit)}` : exactly(limit);
  },
  reference: (value) => (typeof value === 'number' ? `@.double() == ${value}` : sameText(value)),
  presence: exactly,
};

function inOrder(value: Value, sign: '>' | '>=' | '<' | '<=', { subject, today }: Asked): string {
  if (subject === 'reference') return `@.double() ${sign} ${value}`;
  if (typeof value === 'number') return `@ ${sign} ${value}`;
  const { limit, isDay } = limitOf(String(value), today);
  // `~` comes behind whatever continues a day.
  const end = isDay && (sign === '>' || sign === '<=') ? `${limit}~` : limit;
  return `@ like_regex "${momentStart}" && @ ${sign} ${JSON.stringify(end)}`;
}

/** What no text begins with that was never a moment: the element may have had another type when it was answered. */
const momentStart = '^(\\\\d{4}-\\\\d\\\\d-\\\\d\\\\d|\\\\d\\\\d:\\\\d\\\\d)';

/** A moment that is meant, and whether it is a day that stands for all of its times, as `today+30` does. */
function limitOf(value: string, today: string): { limit: string; isDay: boolean } {
  const [, limit] = alignMoments('', value, today);
  return { limit, isDay: limit !== value };
}

/** What meets a pattern, as a part of a path. */
export const like = (pattern: string, flag = ''): string =>
  `@ like_regex ${JSON.stringify(pattern)}${flag && ` flag "${flag}"`}`;

/** A text as a part of a pattern that means nothing but itself, without white space around it. */
const literal = (text: string): string => trimText(text).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
