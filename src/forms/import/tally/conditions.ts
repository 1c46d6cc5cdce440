import { labelOf, type Option } from '#ast/answers/options.ts';
import { own } from '#ast/json.ts';
import type { Condition, Operator } from '#ast/logic/condition.ts';
import { joined, otherChosen, type Sketched } from '../sketch.ts';
import { type OptionLabels, otherLabel } from './questions.ts';
import type { Part } from '../source.ts';

const operators: Readonly<Record<string, Operator>> = {
  IS: 'equals',
  IS_NOT: 'not_equals',
  EQUAL: 'equals',
  NOT_EQUAL: 'not_equals',
  CONTAINS: 'contains',
  DOES_NOT_CONTAIN: 'not_contains',
  IS_ANY_OF: 'one_of',
  GREATER_THAN: 'greater_than',
  GREATER_OR_EQUAL_THAN: 'at_least',
  LESS_THAN: 'less_than',
  LESS_OR_EQUAL_THAN: 'at_most',
  IS_AFTER: 'greater_than',
  IS_BEFORE: 'less_than',
  IS_EMPTY: 'not_answered',
  IS_NOT_EMPTY: 'answered',
};

/** The condition of a block of logic; undefined where a part of it cannot be said here. */
export function readTallyCondition(
  payload: Part,
  find: (id: string) => Sketched | undefined,
  labels: OptionLabels,
): Condition | undefined {
  const parts = payload.list('conditionals').map((part) => {
    part.text('uuid');
    part.text('type');
    return readOne(part.part('payload'), find, labels);
  });
  const told = parts.filter((part) => part !== undefined);
  const kind = payload.text('logicalOperator') === 'OR' ? 'any' : 'all';
  return told.length === parts.length ? joined(kind, told) : undefined;
}

function readOne(
  part: Part,
  find: (id: string) => Sketched | undefined,
  labels: OptionLabels,
): Condition | undefined {
  const field = part.part('field');
  for (const name of ['type', 'questionType', 'title']) field.text(name);
  const ids = [field.text('uuid'), field.text('blockGroupUuid')];
  const made = ids.flatMap((id) => (id === undefined ? [] : (find(id) ?? []))).at(0);
  const is = own(operators, part.text('comparison') ?? '');
  if (!made || !is) return undefined;
  const element = String(made.attrs['id']);
  if (is === 'answered' || is === 'not_answered') return { element, is };
  const values = part.list('value').flatMap((each) => each.word() ?? []);
  const value = part.flag('value') ?? part.number('value') ?? part.text('value');
  return compare(
    made,
    element,
    is,
    (values.length > 0 ? values : value === undefined ? [] : [value]).map(
      (each) => labels.get(String(each)) ?? each,
    ),
  );
}

/** Options are named by the ids of their blocks: of one that is not there nothing can be asked. */
const isChoice = ({ attrs }: Sketched): boolean => attrs['options'] !== undefined;

/** Several values are each compared: any of them is meant by what is asked for, none by what is not. */
function compare(
  made: Sketched,
  element: string,
  is: Operator,
  values: readonly (string | number | boolean)[],
): Condition | undefined {
  const { type } = made;
  const isNumber = type === 'number' || type === 'rating' || type === 'scale';
  const isSeveral = type === 'multiple_choice' || type === 'picture_choice';
  const several: Partial<Record<Operator, Operator>> = { equals: 'contains', not_equals: 'not_contains' };
  const operator = isSeveral ? (several[is] ?? is) : is === 'one_of' ? 'equals' : is;
  const told = values.map((value) => (isNumber ? Number(value) : value));
  const isOther = values.map((value) => value === otherLabel);
  if (isOther.includes(true)) {
    const other = otherChosen(made);
    if (!other || values.length > 1 || (is !== 'equals' && is !== 'not_equals')) return undefined;
    return is === 'equals' ? other : { not: other };
  }
  const known = ((made.attrs['options'] ?? []) as readonly Option[]).map(labelOf);
  if (isChoice(made) && made.type !== 'matrix' && values.some((value) => !known.includes(String(value))))
    return undefined;
  if (told.some((value) => Number.isNaN(value))) return undefined;
  if (operator === 'one_of')
    return { element, is: operator, value: told.filter((each) => typeof each !== 'boolean') };
  const isNot = operator === 'not_equals' || operator === 'not_contains';
  return joined(
    isNot ? 'all' : 'any',
    told.map((value) => ({ element, is: operator, value })),
  );
}
