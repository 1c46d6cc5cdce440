import { isRecord } from '#ast/json.ts';
import type { Condition as FormCondition } from '#ast/logic/condition.ts';
import type { Counted } from '#submissions/filter/shapes.ts';
import type { askFor, Condition, ProgramAsked } from './conditions.ts';

/** The conditions that ask so, as a person chooses them: what `askFor` makes, read back. What is more is kept as it is. */
export function conditionsOf({ where, version, counted, ...beside }: ReturnType<typeof askFor>): Condition[] {
  const conditions: Condition[] = [];
  const unread: FormCondition[] = [];
  for (const part of partsOf(where)) {
    const read = conditionOf(part);
    if (!read) unread.push(part);
    else if (!joins(conditions.at(-1), read)) conditions.push(read);
  }
  if (version !== undefined) conditions.push({ on: 'version', op: 'equals', value: version });
  if (counted !== undefined)
    conditions.push({ on: 'counted', op: 'equals', value: JSON.parse(counted) as Counted });
  const value: ProgramAsked = { ...beside, ...(unread.length > 0 && { where: unread }) };
  if (Object.keys(value).length > 0) conditions.push({ on: 'program', op: 'equals', value });
  return conditions;
}

function partsOf(where: string | undefined): readonly FormCondition[] {
  if (where === undefined) return [];
  // The service has read it before it was saved.
  const asked = JSON.parse(where) as FormCondition;
  return 'all' in asked ? asked.all : [asked];
}

function conditionOf(asked: FormCondition): Condition | undefined {
  if ('any' in asked) {
    const each = asked.any.map(conditionOf);
    const [first] = each;
    const values = each.flatMap((one) => (one?.op === 'all' && isOf(one, first) ? one.values : []));
    if (first?.op !== 'all' || values.length < each.length) return undefined;
    return { ...first, op: 'any', values };
  }
  if (!('is' in asked)) return undefined;
  const subject =
    'reference' in asked
      ? ({ on: 'reference', name: asked.reference } as const)
      : 'element' in asked &&
          Object.keys(asked).every((key) => ['element', 'row', 'is', 'value'].includes(key))
        ? ({
            on: 'answer',
            name: asked.element,
            ...('row' in asked && { row: asked.row as string }),
          } as const)
        : undefined;
  if (!subject) return undefined;
  const { is, value } = asked as { is: string; value?: unknown };
  if (is === 'answered') return { ...subject, op: 'filled' };
  if (is === 'not_answered') return { ...subject, op: 'empty' };
  if (is === 'contains' && typeof value === 'string') return { ...subject, op: 'contains', value };
  if (is === 'equals' && (typeof value === 'string' || typeof value === 'boolean'))
    return { ...subject, op: 'equals', value };
  if (is === 'one_of' && Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return { ...subject, op: value.length === 1 ? 'all' : 'any', values: value };
  const end = is === 'at_least' ? 'from' : is === 'at_most' ? 'to' : undefined;
  if (end && typeof value === 'number') return { ...subject, op: 'number', [end]: value };
  if (end && typeof value === 'string') return { ...subject, op: 'time', [end]: value };
  return undefined;
}

/** Whether two ask about the same. */
const isOf = (one: Condition, other: Condition | undefined): boolean =>
  other !== undefined &&
  'name' in one &&
  'name' in other &&
  one.on === other.on &&
  one.name === other.name &&
  one.row === other.row;

/** Puts a condition to the one before it, where both were one: the other end of a range, one more of what must be chosen. */
function joins(before: Condition | undefined, read: Condition): boolean {
  if (!before || !isOf(read, before) || read.op !== before.op) return false;
  if (before.op === 'all' && read.op === 'all') {
    before.values.push(...read.values);
    return true;
  }
  const isRange = (read.op === 'number' || read.op === 'time') && 'to' in read && !('to' in before);
  if (isRange && isRecord(before)) Object.assign(before, { to: read.to });
  return isRange;
}
