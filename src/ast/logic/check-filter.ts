import { isInputType } from '../input-rules.ts';
import { isRecord, storageProblem } from '../json.ts';
import { limits } from '../limits.ts';
import { quote } from '../problems.ts';
import { fitsBytes } from '../text.ts';
import { type Form, isComposite, isRepeatable, type PlacedElement } from '../tree.ts';
import { comparisonProblem, referenceProblem } from './check-comparison.ts';
import { type Comparison, type Condition, placedComparisons } from './condition.ts';
import { conditionFault } from './condition-problem.ts';
import { indexOf } from './form-index.ts';

/** One problem of a filter: a sentence, and the place of the part as `placedComparisons` counts it. */
type FilterProblem = { readonly message: string; readonly path: readonly number[] };

/**
 * Checks a filter: a condition over whole submissions, outside of the form. It may name whatever has an answer of its
 * own, in any step: inputs outside of rows, and repeatable composites for whether they are answered.
 * @param older versions of the form whose elements it may name, too, each as it was in one of them.
 * @returns every name and value that does not fit, or the first fault of its shape. Takes any value, never throws.
 */
export const checkFilter = (form: Form, filter: unknown, older: readonly Form[] = []): FilterProblem[] =>
  checkComparisons(filter, (comparison) => findNamed(comparison, [form, ...older])[0]);

/** The same where somebody else knows what is wrong with a comparison. */
export function checkComparisons(
  filter: unknown,
  problemOf: (comparison: Comparison) => string | undefined,
): FilterProblem[] {
  const say = (problem: string, path: readonly number[]): FilterProblem => ({
    message: `The filter ${problem}.`,
    path,
  });
  const fault = conditionFault(filter);
  if (fault) return [say(fault.problem, fault.path)];
  const unstorable = isRecord(filter) && storageProblem(filter, { values: 0, markup: 0 });
  if (unstorable) return [say(unstorable, [])];
  if (!fitsBytes(JSON.stringify(filter), limits.filterBytes))
    return [say(`can have at most ${limits.filterBytes} bytes as JSON`, [])];
  return [...placedComparisons(filter as Condition)].flatMap(({ comparison, path }) => {
    const problem = problemOf(comparison);
    return problem === undefined ? [] : [say(problem, path)];
  });
}

/** The element that a comparison can be asked of, in the first version that has it so; else what is wrong in the first. */
export function findNamed(
  comparison: Comparison,
  versions: readonly Form[],
): [problem: string | undefined, named?: PlacedElement] {
  if ('reference' in comparison) return [referenceProblem(comparison)];
  const named = versions.flatMap((form) => indexOf(form).byId.get(comparison.element) ?? []);
  const problems = named.map((placed) => namedProblem(comparison, placed));
  const fitting = problems.indexOf(undefined);
  if (fitting >= 0) return [undefined, named[fitting]!];
  return [problems[0] ?? `names ${quote(comparison.element)}, which is no element of the form`];
}

function namedProblem(
  comparison: Extract<Comparison, { element: string }>,
  placed: PlacedElement,
): string | undefined {
  const name = quote(comparison.element);
  const problem = answerProblem(placed);
  if (problem) return `names ${name}, ${problem}`;
  const { type, attrs } = placed.element;
  return comparisonProblem(comparison, { id: comparison.element, type, attrs: attrs ?? {} });
}

/** Why an element has no answer of its own in a submission. */
function answerProblem({ element, group }: PlacedElement): string | undefined {
  if (group) return `which has an answer in each row of ${quote(group.attrs.id)}`;
  if (isComposite(element)) {
    return isRepeatable(element) ? undefined : 'which has no answer of its own: name the elements in it';
  }
  return isInputType(element.type) ? undefined : 'which takes no answer';
}
