import { fieldName, type GroupRow } from '#ast/form/fields.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import {
  type Calculation,
  type Composite,
  type Form,
  isCalculation,
  isVisibleToVisitors,
  walkElements,
} from '#ast/form/tree.ts';
import type { VisibleParts } from '#ast/logic/evaluate.ts';

/** Shown while a calculation has no result. */
const noResult = '–';

/** Formats the result of a calculation. */
export function formatCalculationResult(
  calculation: Calculation,
  row: GroupRow | undefined,
  {
    shown,
    numberLocale,
  }: { readonly shown: Pick<VisibleParts, 'calculated'>; readonly numberLocale: string },
): string {
  const result = shown.calculated(calculation, row);
  return result === undefined
    ? noResult
    : inputRules.calculation.formatNumber(calculation.attrs, result, numberLocale);
}

/**
 * Lists every result that a page shows, by HTML name. @param countRows returns the number of rows that the
 * page shows of a group.
 */
export function* listCalculationResults(
  form: Form,
  page: { readonly shown: Pick<VisibleParts, 'calculated'>; readonly numberLocale: string },
  countRows: (group: Composite) => number,
): Generator<{ readonly name: string; readonly text: string }, void> {
  for (const { element, group } of walkElements(form)) {
    if (!isCalculation(element) || !isVisibleToVisitors(element)) continue;
    const rows = group
      ? Array.from({ length: countRows(group) }, (_, index) => ({ group, index }))
      : [undefined];
    for (const row of rows)
      yield { name: fieldName(element, row), text: formatCalculationResult(element, row, page) };
  }
}
