import { comparisonOperators } from '../basics/condition.ts';
import { getProperty, isRecord } from '../basics/json.ts';
import { formLimits } from '../basics/limits.ts';
import { quote } from '../basics/problems.ts';
import { fitsBytes } from '../basics/text.ts';

/**
 * Returns what is wrong with the structure of a condition, as the end of a sentence about the attribute.
 * `checkLogic` checks the names in it.
 */
export const conditionProblem = (value: unknown): string | undefined => findConditionFault(value)?.problem;

/** Returns the first problem in the shape of a condition, with its path as in `walkComparisons`. */
export const findConditionFault = (value: unknown): Fault | undefined =>
  findFault(value, [], { comparisons: 0 });

type Fault = { readonly problem: string; readonly path: Path };

/** Returns what is wrong with the structure of a step's jumps. */
export function jumpsProblem(value: unknown): string | undefined {
  const shape = `must be a list of 1 to ${formLimits.jumps} jumps like {"when": …, "to": "step-id"}`;
  if (!Array.isArray(value) || value.length === 0 || value.length > formLimits.jumps) return shape;
  for (const jump of value) {
    if (!isRecord(jump) || typeof getProperty(jump, 'to') !== 'string') return shape;
    const extra = Object.keys(jump).find((key) => key !== 'to' && key !== 'when');
    if (extra !== undefined) return `has a jump with ${quote(extra)}; a jump can only have "when" and "to"`;
    const problem = getProperty(jump, 'when') === undefined ? undefined : conditionProblem(jump.when);
    if (problem) return `has a jump whose "when" ${problem}`;
  }
  return undefined;
}

type Part = Readonly<Record<string, unknown>>;
type Path = readonly number[];
type Tally = { comparisons: number };

const kinds = ['all', 'any', 'not', 'element', 'reference'] as const;

const faultFinders: Readonly<
  Record<(typeof kinds)[number], (part: Part, path: Path, tally: Tally) => Fault | undefined>
> = {
  all: (part, path, tally) => listFault(part, 'all', path, tally),
  any: (part, path, tally) => listFault(part, 'any', path, tally),
  not: (part, path, tally) =>
    faultAt(path, extraProblem(part, ['not'])) ?? findFault(part.not, [...path, 0], tally),
  element: (part, path, tally) => faultAt(path, comparisonProblem(part, 'element', tally)),
  reference: (part, path, tally) => faultAt(path, comparisonProblem(part, 'reference', tally)),
};

const faultAt = (path: Path, problem: string | undefined): Fault | undefined =>
  problem === undefined ? undefined : { problem, path };

function findFault(value: unknown, path: Path, tally: Tally): Fault | undefined {
  if (path.length > formLimits.conditionDepth)
    return faultAt(path, `must be nested at most ${formLimits.conditionDepth} levels deep`);
  const kind = isRecord(value) && kinds.find((name) => Object.hasOwn(value, name));
  if (!kind) {
    const shape = 'must be a condition: an object with "all", "any", "not", "element" or "reference"';
    return faultAt(path, shape);
  }
  return faultFinders[kind](value, path, tally);
}

function listFault(part: Part, kind: 'all' | 'any', path: Path, tally: Tally): Fault | undefined {
  const list = part[kind];
  if (!Array.isArray(list) || list.length === 0)
    return faultAt(path, `must have a list of conditions under "${kind}"`);
  const extra = faultAt(path, extraProblem(part, [kind]));
  if (extra) return extra;
  for (const [index, condition] of list.entries()) {
    const fault = findFault(condition, [...path, index], tally);
    if (fault) return fault;
  }
  return undefined;
}

function comparisonProblem(part: Part, kind: 'element' | 'reference', tally: Tally): string | undefined {
  tally.comparisons += 1;
  if (tally.comparisons > formLimits.comparisons)
    return `must have at most ${formLimits.comparisons} comparisons`;
  const name = part[kind];
  if (!isName(name)) return `must have a name under "${kind}"`;
  const operator = comparisonOperators.find((each) => each === getProperty(part, 'is'));
  if (!operator) return `must have one of these under "is": ${comparisonOperators.join(', ')}`;
  const extra = extraProblem(part, [kind, 'is', 'value', ...(kind === 'element' ? ['row', 'other'] : [])]);
  if (extra) return extra;
  const row = getProperty(part, 'row');
  if (row !== undefined && !isName(row)) return 'must have the ID of a row under "row"';
  const value = getProperty(part, 'value');
  const other = getProperty(part, 'other');
  const isAlone = operator === 'answered' || operator === 'not_answered';
  if (other !== undefined) {
    if (!isName(other)) return 'must have the ID of a question under "other"';
    if (value !== undefined) return 'must have either "value" or "other", not both';
    return isAlone || operator === 'one_of' ? `must not have "other" with ${quote(operator)}` : undefined;
  }
  if (isAlone) return value === undefined ? undefined : `must not have a "value" with ${quote(operator)}`;
  return valueProblem(value, operator === 'one_of');
}

function valueProblem(value: unknown, isList: boolean): string | undefined {
  if (!isList)
    return isPlain(value) || typeof value === 'boolean'
      ? undefined
      : 'must have text, a number, or true or false under "value"';
  const fits = Array.isArray(value) && value.length > 0 && value.length <= formLimits.conditionValues;
  return fits && value.every(isPlain)
    ? undefined
    : `must have a list of 1 to ${formLimits.conditionValues} strings or numbers under "value"`;
}

const isName = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && fitsBytes(value, formLimits.labelBytes);

function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return fitsBytes(value, formLimits.labelBytes);
  return typeof value === 'number' && Number.isFinite(value);
}

/** Rejects unknown keys, because a typo could change the meaning of the condition. */
function extraProblem(part: Part, known: readonly string[]): string | undefined {
  const extra = Object.keys(part).find((key) => !known.includes(key));
  return extra === undefined ? undefined : `must not have ${quote(extra)} next to ${quote(known[0]!)}`;
}
