import type { ElementType } from '#ast/elements.ts';
import { withStableLabels } from '#ast/piping.ts';
import {
  type Form,
  type InputElement,
  levelsOf,
  listQuestions,
  optionsOf,
  type Question,
} from '#ast/tree.ts';

/** What a question asks, as the head of a column. */
type Asked = { id: string; label: string; type: ElementType };

/** A column of a form's submissions: a question that can be answered at the top level. */
export type Column = Asked & {
  /** The choices of a selection, and the levels of a scale; empty for everything else. */
  options: readonly string[];
  /** The questions of one row, of a repeatable composite. */
  inputs: readonly (Asked & { options: readonly string[] })[];
  /** No longer asked: only versions before the live one have it. */
  is_retired: boolean;
};

/**
 * The columns of a form over the versions that were answered: the live form's questions in its order, and each
 * question that is no longer asked behind the one that it used to follow.
 * @param versions the live one first, then others from new to old; of an element in several, the first counts.
 */
export function unionColumns(versions: readonly Form[]): Column[] {
  let columns: Column[] = [];
  for (const [age, form] of versions.entries()) {
    const known = new Set(columns.map(({ id }) => id));
    /** What is new in this version, behind the column that it follows; undefined: before all. */
    const added = new Map<string | undefined, Column[]>();
    let before: string | undefined;
    for (const question of listQuestions(withStableLabels(form))) {
      const { id } = question.element.attrs;
      if (known.has(id)) {
        before = id;
        continue;
      }
      const beside = added.get(before) ?? [];
      beside.push(columnOf(question, age > 0));
      added.set(before, beside);
    }
    columns = [
      ...(added.get(undefined) ?? []),
      ...columns.flatMap((column) => [column, ...(added.get(column.id) ?? [])]),
    ];
  }
  return columns;
}

const choicesOf = (input: InputElement): readonly string[] => [
  ...optionsOf(input),
  ...levelsOf(input).map(String),
];

function columnOf(question: Question, isRetired: boolean): Column {
  const { type, attrs } = question.element;
  const isGroup = question.kind === 'group';
  return {
    id: attrs.id,
    label: attrs.label,
    type,
    options: isGroup ? [] : choicesOf(question.element),
    inputs: isGroup
      ? question.inputs.map((input) => ({
          id: input.attrs.id,
          label: input.attrs.label,
          type: input.type,
          options: choicesOf(input),
        }))
      : [],
    is_retired: isRetired,
  };
}
