import { getProperty } from '#ast/basics/json.ts';
import type { Column } from '#submissions/shapes.ts';
import { type FilterCondition, kindOfColumn, toApiParameters } from '../filter/conditions.ts';
import type { ComparedAnswers } from '../view-state.ts';

/** One of two groups of submissions: those that gave this answer. */
export type ComparedGroup = { letter: 'A' | 'B'; label: string; condition: FilterCondition };
export type Comparison = readonly [ComparedGroup, ComparedGroup];

/** The answers to a question that can define a group; empty if it has no fixed answers. */
export function listAnswers(column: Column): { value: string; label: string }[] {
  const kind = kindOfColumn(column);
  if (kind === 'yes_no') return ['Yes', 'No'].map((value) => ({ value, label: value }));
  if (kind !== 'choice' && kind !== 'choices' && kind !== 'number') return [];
  return column.options.map((value) => ({ value, label: getProperty(column.option_labels, value) ?? value }));
}

/** Returns the questions by whose answers submissions can be compared. */
export const listComparable = (columns: readonly Column[]): Column[] =>
  columns.filter((column) => listAnswers(column).length > 1);

function conditionOf(column: Column, value: string): FilterCondition {
  const answer = { on: 'answer', name: column.id } as const;
  const kind = kindOfColumn(column);
  if (kind === 'yes_no') return { ...answer, op: 'equals', value: value === 'Yes' };
  if (kind === 'number') return { ...answer, op: 'number', from: Number(value), to: Number(value) };
  return { ...answer, op: 'any', values: [value] };
}

/** Returns the compared groups; undefined if the question no longer has these answers. */
export function findComparison(
  compare: ComparedAnswers | undefined,
  columns: readonly Column[],
): Comparison | undefined {
  const column = compare && columns.find(({ id }) => id === compare.name);
  if (!column) return undefined;
  const answers = listAnswers(column);
  const [first, other] = compare.values.map((value) => answers.find((answer) => answer.value === value));
  return first && other
    ? [
        { letter: 'A', label: first.label, condition: conditionOf(column, first.value) },
        { letter: 'B', label: other.label, condition: conditionOf(column, other.value) },
      ]
    : undefined;
}

/** Returns the parameter `compare` of the API. */
export const toCompareParameter = (comparison: Comparison): string =>
  `[${comparison.map(({ condition }) => toApiParameters([condition]).where).join()}]`;
