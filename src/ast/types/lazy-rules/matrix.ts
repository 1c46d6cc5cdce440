import { getProperty, isRecord } from '../../basics/json.ts';
import {
  type ChoiceAttributes,
  type Option,
  optionIdOf,
  optionLabelOf,
  optionsById,
  tidyChoices,
} from '../../basics/options.ts';
import { isBlank } from '../../basics/text.ts';
import { spendWork, type WorkBudget } from '../../basics/work.ts';
import { acceptAnswer, type CheckedAnswer, type GridAnswer, type RowAnswer, refuseAnswer } from '../rules.ts';

/** The attributes of a matrix: each row has one of the options as its answer, or several with `multiple`. */
type MatrixAttributes = Pick<ChoiceAttributes, 'options'> & {
  readonly rows: readonly Option[];
  readonly multiple?: boolean;
};

/** The cost of a row, in steps of work (work.ts). */
const cellSteps = 20;

/** More names than any matrix has rows (`matrixRows` in limits.ts). A body can have 30,000. */
const mostNames = 100;

/** How many unanswered rows an error names. */
const named = 3;

/** The chosen options of each answered row, by row ID and in form order. */
export const rules = {
  kind: 'grid',
  noun: 'grid',
  tidy: (value: unknown, work: WorkBudget, attrs: MatrixAttributes) => {
    if (!isRecord(value)) return value;
    const { length } = Object.keys(value);
    spendWork(work, length * cellSteps);
    // Returns a number, which is not a valid answer, so that later checks do not read the names again.
    if (length > mostNames) return length;
    const answered = Object.entries(value).flatMap(([row, cell]) =>
      isBlank(cell) ? [] : [[row, tidyChoices(attrs, cell)] as const],
    );
    return answered.length === 0 ? undefined : Object.fromEntries(answered);
  },
  check: (attrs: MatrixAttributes, value: unknown): CheckedAnswer<GridAnswer> => {
    if (!isRecord(value)) return refuseAnswer('grid');
    const options = optionsById(attrs);
    const cells = new Map(Object.entries(value));
    const answer = attrs.rows.flatMap((row): [string, string | string[]][] => {
      const chosen = chosenOf(cells.get(optionIdOf(row)), attrs.multiple);
      return chosen?.every((option) => options.has(option))
        ? [[optionIdOf(row), attrs.multiple ? chosen : chosen[0]!]]
        : [];
    });
    // Unknown rows and options are missing from `answer`, so the sizes differ.
    return answer.length === cells.size ? acceptAnswer(Object.fromEntries(answer)) : refuseAnswer('grid');
  },
  row: (answer: unknown, row: string): RowAnswer => {
    const value = isRecord(answer) ? getProperty(answer, row) : undefined;
    return { kind: rowKind(Array.isArray(value)), value };
  },
  lacks: ({ rows }: MatrixAttributes, answer: GridAnswer) => {
    const missing = rows.filter((row) => !Object.hasOwn(answer, optionIdOf(row))).map(optionLabelOf);
    if (missing.length === 0) return undefined;
    const rest = missing.length > named ? ', …' : '';
    return { rule: 'rows_left', values: { rows: `${missing.slice(0, named).join(', ')}${rest}` } } as const;
  },
} as const;

/** The kind of the answer to one row. */
export const rowKind = (isMultiple: boolean): RowAnswer['kind'] => (isMultiple ? 'choices' : 'choice');

/** Returns the chosen options of a row, each once, or undefined if the value is invalid. */
function chosenOf(cell: unknown, isMultiple = false): string[] | undefined {
  const chosen: readonly unknown[] = Array.isArray(cell) ? cell : [cell];
  const texts = chosen.filter((option) => typeof option === 'string');
  return Array.isArray(cell) === isMultiple && new Set(texts).size === chosen.length ? texts : undefined;
}
