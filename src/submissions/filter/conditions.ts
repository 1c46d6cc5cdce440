import { Type, type Static } from 'typebox';
import { isCleanText } from '#ast/text.ts';
import { ApiError } from '#kit/errors.ts';
import { compileCheck } from '#kit/validation.ts';

/** More conditions than a person reads; each costs every submission that it looks at. */
const conditionLimit = 20;

const closed = { additionalProperties: false } as const;
const name = Type.String({ minLength: 1, maxLength: 1_000 });
const value = Type.String({ minLength: 1, maxLength: 1_000 });
/** A date, time or moment as answers are written; also the beginning of one, which stands for all of it. */
const time = Type.String({ pattern: '^(\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2})?|\\d{2}:\\d{2})$' });
const on = Type.Enum(['answer', 'reference']);

/**
 * One condition on a submission: on the answer of a question that is asked at the top level (`name` is the element's
 * id), on a reference value by its name, or on the version that was answered. All conditions of a view must hold.
 */
export const Condition = Type.Union([
  /** A text, without regard to case. `equals` compares the whole, also yes and no (`true`, `false`). */
  Type.Object({ on, name, op: Type.Enum(['contains', 'equals']), value }, closed),
  Type.Object({ on, name, op: Type.Enum(['empty', 'filled']) }, closed),
  /** From and to are both included; one may be missing. */
  Type.Object(
    {
      on: Type.Literal('answer'),
      name,
      op: Type.Literal('number'),
      from: Type.Optional(Type.Number()),
      to: Type.Optional(Type.Number()),
    },
    closed,
  ),
  Type.Object(
    {
      on: Type.Literal('answer'),
      name,
      op: Type.Literal('time'),
      from: Type.Optional(time),
      to: Type.Optional(time),
    },
    closed,
  ),
  /** Any, or all, of these options were chosen. */
  Type.Object(
    {
      on: Type.Literal('answer'),
      name,
      op: Type.Enum(['any', 'all']),
      values: Type.Array(value, { minItems: 1, maxItems: 500 }),
    },
    closed,
  ),
  Type.Object(
    { on: Type.Literal('version'), op: Type.Literal('equals'), value: Type.Integer({ minimum: 1 }) },
    closed,
  ),
]);
export type Condition = Static<typeof Condition>;

const check = compileCheck(
  Type.Object({ where: Type.Array(Condition, { maxItems: conditionLimit }) }, closed),
);

/**
 * Reads conditions as they are sent: a JSON text.
 * @throws ApiError bad_request for what is not understood: a condition is never ignored.
 */
export function readConditions(sent: string): Condition[] {
  const result = check({ where: parse(sent) });
  if (result.ok && result.value.where.every(isClean)) return result.value.where;
  throw new ApiError('bad_request', '"where" must be a list of conditions.', {
    ...(!result.ok && { errors: result.errors }),
  });
}

function parse(sent: string): unknown {
  try {
    return JSON.parse(sent);
  } catch (cause) {
    throw new ApiError('bad_request', '"where" must be JSON.', { cause });
  }
}

/** PostgreSQL holds no NUL, and half a surrogate pair is no text. */
const isClean = (condition: Condition): boolean =>
  condition.on === 'version' ||
  [
    condition.name,
    ...('value' in condition ? [condition.value] : []),
    ...('values' in condition ? condition.values : []),
  ].every(isCleanText);

/** A JSON path that a number in these bounds meets; without bounds, any number. */
function numberPath({ from, to }: { from?: number; to?: number }): string {
  const bounds = [
    from === undefined ? '$ >= 0 || $ < 0' : `$ >= ${from}`,
    ...(to === undefined ? [] : [`$ <= ${to}`]),
  ];
  return bounds.map((bound) => `(${bound})`).join(' && ');
}

/** The same for dates and times, which sort as texts. `~` comes after whatever continues a beginning of a time. */
function timePath({ from, to }: { from?: string; to?: string }): string {
  const bounds = [`$ >= "${from ?? ''}"`, ...(to === undefined ? [] : [`$ < "${to}~"`])];
  return bounds.map((bound) => `(${bound})`).join(' && ');
}

/**
 * Conditions as the statements read them (matchesConditions in queries.ts): one flat record each, as JSON text.
 * Values that must be compared as text arrive as text.
 */
export function conditionRecords(conditions: readonly Condition[]): string {
  return JSON.stringify(conditions.map(recordOf));
}

function recordOf(condition: Condition): object {
  if (condition.on === 'version') return { source: 'version', op: 'equals', text: String(condition.value) };
  const { on: source, name } = condition;
  switch (condition.op) {
    case 'contains':
    case 'equals':
      return { source, name, op: condition.op, text: condition.value };
    case 'empty':
    case 'filled':
      return { source, name, op: condition.op };
    case 'number':
      return { source, name, op: 'path', path: numberPath(condition) };
    case 'time':
      return { source, name, op: 'path', path: timePath(condition) };
    case 'any':
    case 'all':
      return { source, name, op: condition.op, list: condition.values };
    default:
      return condition satisfies never;
  }
}
