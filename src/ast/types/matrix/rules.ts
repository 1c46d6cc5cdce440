import { isBlank } from '../../basics/blank.ts';
import { isRecord, own } from '../../basics/json.ts';
import {
  idOf,
  labelOf,
  type Option,
  optionsById,
  type Selection,
  tidyChoices,
} from '../../basics/options.ts';
import { spend, type Work } from '../../basics/work.ts';
import { accept, type CheckedAnswer, type GridAnswer, type RowAnswer, refuse } from '../rules.ts';

/** What a matrix asks: for each of its rows one of its options, or with `multiple` several. */
export type Matrix = Pick<Selection, 'options'> & {
  readonly rows: readonly Option[];
  readonly multiple?: boolean;
};

/** What it costs to look at a row, in the steps of work.ts. */
const cellSteps = 20;

/** So many names are rows of no matrix (limits.ts, `matrixRows`), also with some that are blank. A body may have 30,000. */
const mostNames = 100;

/** So many rows without an answer are named. */
const named = 3;

/** What is chosen in each row that is answered, by the row's id and in the form's order. */
export const rules = {
  kind: 'grid',
  noun: 'grid',
  tidy: (value: unknown, work: Work, attrs: Matrix) => {
    if (!isRecord(value)) return value;
    const { length } = Object.keys(value);
    spend(work, length * cellSteps);
    // No record is no answer, and whatever asks for it looks at none of them again.
    if (length > mostNames) return length;
    const answered = Object.entries(value).flatMap(([row, cell]) =>
      isBlank(cell) ? [] : [[row, tidyChoices(attrs, cell)] as const],
    );
    return answered.length === 0 ? undefined : Object.fromEntries(answered);
  },
  check: (attrs: Matrix, value: unknown): CheckedAnswer<GridAnswer> => {
    if (!isRecord(value)) return refuse('grid');
    const options = optionsById(attrs);
    const cells = new Map(Object.entries(value));
    const answer = attrs.rows.flatMap((row): [string, string | string[]][] => {
      const chosen = chosenOf(cells.get(idOf(row)), attrs.multiple);
      return chosen?.every((option) => options.has(option))
        ? [[idOf(row), attrs.multiple ? chosen : chosen[0]!]]
        : [];
    });
    // What is no row, or no option of one, is in none of them.
    return answer.length === cells.size ? accept(Object.fromEntries(answer)) : refuse('grid');
  },
  row: (answer: unknown, row: string): RowAnswer => {
    const value = isRecord(answer) ? own(answer, row) : undefined;
    return { kind: rowKind(Array.isArray(value)), value };
  },
  lacks: ({ rows }: Matrix, answer: GridAnswer) => {
    const missing = rows.filter((row) => !Object.hasOwn(answer, idOf(row))).map(labelOf);
    if (missing.length === 0) return undefined;
    const rest = missing.length > named ? ', …' : '';
    return { rule: 'rows_left', values: { rows: `${missing.slice(0, named).join(', ')}${rest}` } } as const;
  },
} as const;

/** What one row answers by itself. */
export const rowKind = (isMultiple: boolean): RowAnswer['kind'] => (isMultiple ? 'choices' : 'choice');

/** The options of a row, each once; undefined for what is none. */
function chosenOf(cell: unknown, isMultiple = false): string[] | undefined {
  const chosen: readonly unknown[] = Array.isArray(cell) ? cell : [cell];
  const texts = chosen.filter((option) => typeof option === 'string');
  return Array.isArray(cell) === isMultiple && new Set(texts).size === chosen.length ? texts : undefined;
}
