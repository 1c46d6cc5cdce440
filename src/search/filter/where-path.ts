import {
  type Comparison,
  type ComparisonOperator,
  type Condition,
  type ConditionValue,
  comparisonsOf,
} from '#ast/basics/condition.ts';
import { trimText } from '#ast/basics/text.ts';
import { type InputType, inputRules } from '#ast/form/input-rules.ts';
import { checkComparisons, comparisonProblem } from '#ast/logic/check-condition.ts';
import { toComparableMoments } from '#ast/rules/moments.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import { isAssignmentColumn } from '#rules/columns.ts';

/**
 * The compared value: an answer of a type, an answer in a row of a matrix, a reference value, or the stage or
 * assignee (`assignment`). For a group, a condition can only ask whether it is answered.
 */
export type ComparedKind = InputType | 'composite' | 'row' | 'reference' | 'assignment';

type Around = {
  /** Returns the type of the element that a comparison names. */
  readonly typeOf: (comparison: Comparison) => ComparedKind;
  /** Today's date in the form's time zone, YYYY-MM-DD. */
  readonly today: string;
  readonly readsWhole: boolean;
};

/**
 * Returns a condition as one JSON path, which matches if `isTrue` of #ast does. Each comparison looks for a
 * value that meets it. A missing value or one of another type therefore does not match, while a negated
 * comparison does. Strings are written as JSON, and escaped in patterns.
 */
export const wherePath = (condition: Condition, around: Around): string =>
  pathOf(condition, { ...around, answers: around.readsWhole ? '$.answers' : '$' });

/** Whether a comparison is about the stage or the assignee. */
export const isAssignmentComparison = (comparison: Comparison): boolean =>
  'element' in comparison && isAssignmentColumn(comparison.element);

/**
 * Stages and members are compared like options. Unknown ones match nothing, so that saved views keep working.
 */
const assignmentProblem = (comparison: Comparison): string | undefined =>
  comparisonProblem(comparison, {
    ...('element' in comparison && { id: comparison.element }),
    type: 'dropdown',
    attrs: {},
  });

/**
 * Like checkFilter of #ast, for conditions that can also name the stage and the assignee, but cannot compare
 * two questions: PostgreSQL evaluates each comparison as a separate path.
 */
export const checkWhere = (
  where: unknown,
  problemOf: (comparison: Comparison) => string | undefined,
): ReturnType<typeof checkComparisons> =>
  checkComparisons(where, (comparison) => {
    if ('other' in comparison)
      return 'compares two questions with "other"; a search can only compare an answer with a "value"';
    return isAssignmentComparison(comparison) ? assignmentProblem(comparison) : problemOf(comparison);
  });

/** Whether a condition reads `{"answers": …, "reference": …, "stage": …}` instead of the answers alone. */
export const doesReadWhole = (condition: Condition): boolean =>
  comparisonsOf(condition).some(
    (comparison) => 'reference' in comparison || isAssignmentComparison(comparison),
  );

type Within = Around & { readonly answers: string };

function pathOf(condition: Condition, around: Within): string {
  if ('all' in condition) return joined(condition.all, ' && ', around);
  if ('any' in condition) return joined(condition.any, ' || ', around);
  if ('not' in condition) return `!(${pathOf(condition.not, around)})`;
  const isReference = 'reference' in condition;
  // A row of a matrix has one or more chosen options, and each is compared in the same way.
  const isRow = !isReference && condition.row !== undefined;
  const isAssignment = isAssignmentComparison(condition);
  const subject = isReference
    ? 'reference'
    : isRow
      ? 'row'
      : isAssignment
        ? 'assignment'
        : around.typeOf(condition);
  const place = isReference
    ? `$.reference.${JSON.stringify(condition.reference)}`
    : isAssignment
      ? `$.${condition.element.slice(1)}`
      : `${around.answers}.${JSON.stringify(condition.element)}${rowPath(condition)}`;
  const { sign, test } = tests[condition.is];
  return `${sign}exists(${place}${test({ comparison: condition, subject, today: around.today })})`;
}

/** Returns the path of a row below its matrix. */
const rowPath = ({ row }: { row?: string }): string => (row === undefined ? '' : `.${JSON.stringify(row)}`);

const joined = (parts: readonly Condition[], sign: string, around: Within): string =>
  `(${parts.map((part) => pathOf(part, around)).join(sign)})`;

type ComparedValue = {
  readonly comparison: Comparison;
  readonly subject: ComparedKind;
  readonly today: string;
};
type Test = { readonly sign: '' | '!'; readonly test: (compared: ComparedValue) => string };

const among = (compared: ComparedValue): string =>
  found(valuesOf(compared).map((value) => equalTo[kindOf(compared.subject)](value, compared.today)));
const containing = (compared: ComparedValue): string =>
  kindOf(compared.subject) === 'choices'
    ? among(compared)
    : found(valuesOf(compared).map((value) => likeRegexPath(literal(String(value)), 'i')));
/** Blank answers are not stored, but a reference value may be blank, and an assignee may be null. */
const answered = ({ subject }: ComparedValue): string =>
  subject === 'reference'
    ? found([likeRegexPath('\\S')])
    : subject === 'assignment'
      ? found(['@ != null'])
      : '';
const ordered =
  (sign: '>' | '>=' | '<' | '<=') =>
  (compared: ComparedValue): string =>
    found(valuesOf(compared).map((value) => inOrder(value, sign, compared)));

const tests: Readonly<Record<ComparisonOperator, Test>> = {
  equals: { sign: '', test: among },
  not_equals: { sign: '!', test: among },
  one_of: { sign: '', test: among },
  contains: { sign: '', test: containing },
  not_contains: { sign: '!', test: containing },
  greater_than: { sign: '', test: ordered('>') },
  at_least: { sign: '', test: ordered('>=') },
  less_than: { sign: '', test: ordered('<') },
  at_most: { sign: '', test: ordered('<=') },
  after: { sign: '', test: ordered('>') },
  before: { sign: '', test: ordered('<') },
  answered: { sign: '', test: answered },
  not_answered: { sign: '!', test: answered },
};

/** Whether a comparison matches a question without an answer. */
export const matchesUnanswered = (is: ComparisonOperator): boolean => tests[is].sign === '!';

const found = (conditions: readonly string[]): string => ` ? (${conditions.join(' || ')})`;

const valuesOf = ({ comparison: { value } }: ComparedValue): readonly (string | number | boolean)[] =>
  [value ?? []].flat() as readonly Exclude<ConditionValue, readonly unknown[]>[];

type Kind = Exclude<AnswerKind, 'order' | 'grid' | 'consent' | 'files'> | 'reference' | 'presence';

function kindOf(subject: ComparedKind): Kind {
  if (subject === 'reference') return 'reference';
  if (subject === 'composite') return 'presence';
  if (subject === 'row') return 'choices';
  if (subject === 'assignment') return 'choice';
  const { kind } = inputRules[subject];
  return kind === 'files' || kind === 'order' || kind === 'grid' || kind === 'consent' ? 'presence' : kind;
}

type Value = string | number | boolean;
const exactly = (value: Value): string => `@ == ${JSON.stringify(value)}`;
/** Returns the condition that a text equals the value, ignoring case and surrounding white space. */
export const sameTextPath = (value: Value): string =>
  likeRegexPath(`^\\s*${literal(String(value))}\\s*$`, 'i');

/** Returns the JSON path that tests whether an answer equals a value, for each kind. */
const equalTo: Readonly<Record<Kind, (value: Value, today: string) => string>> = {
  text: sameTextPath,
  number: exactly,
  boolean: exactly,
  choice: exactly,
  choices: exactly,
  moment: (value, today) => {
    const { limit, isDay } = limitOf(String(value), today);
    return isDay ? `@ starts with ${JSON.stringify(limit)}` : exactly(limit);
  },
  reference: (value) => (typeof value === 'number' ? `@.double() == ${value}` : sameTextPath(value)),
  presence: exactly,
};

function inOrder(value: Value, sign: '>' | '>=' | '<' | '<=', { subject, today }: ComparedValue): string {
  if (subject === 'reference') return `@.double() ${sign} ${value}`;
  if (typeof value === 'number') return `@ ${sign} ${value}`;
  const { limit, isDay } = limitOf(String(value), today);
  // `~` sorts after every character that can follow a date.
  const end = isDay && (sign === '>' || sign === '<=') ? `${limit}~` : limit;
  return `@ like_regex "${momentStart}" && @ ${sign} ${JSON.stringify(end)}`;
}

/** Excludes texts that are not moments: the element may have had another type when it was answered. */
const momentStart = '^(\\\\d{4}-\\\\d\\\\d-\\\\d\\\\d|\\\\d\\\\d:\\\\d\\\\d)';

/** Returns the moment, and whether it is a date that covers all times of its day, such as `today+30`. */
function limitOf(value: string, today: string): { limit: string; isDay: boolean } {
  const [, limit] = toComparableMoments('', value, today);
  return { limit, isDay: limit !== value };
}

/** Returns a path condition for a pattern. */
export const likeRegexPath = (pattern: string, flag = ''): string =>
  `@ like_regex ${JSON.stringify(pattern)}${flag && ` flag "${flag}"`}`;

/** Escapes a trimmed text for a pattern. */
const literal = (text: string): string => trimText(text).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
