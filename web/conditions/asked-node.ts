import { type ChoiceOption, idOf, labelOf, type Option } from '#ast/answers/options.ts';
import { isRecord, own } from '#ast/json.ts';

/**
 * What a condition can ask: an element of the builder's tree, or one of a form as it is published; with `row`, one row of
 * a matrix, by its id.
 */
export type AskedNode = {
  readonly type: string;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly row?: string;
};

/** An attribute as text; what is not text is empty. */
export function textOf({ attrs }: Pick<AskedNode, 'attrs'>, name: string): string {
  const value = own(attrs, name);
  return typeof value === 'string' ? value : '';
}

/** The options of a selection that may be half written: what is no option yet is left out. */
export const readOptions = (options: unknown): ChoiceOption[] =>
  (Array.isArray(options) ? (options as readonly unknown[]) : [])
    .filter(isOption)
    .map((option) => ({ ...(isRecord(option) && option), id: idOf(option), label: labelOf(option) }));

const isOption = (entry: unknown): entry is Option =>
  typeof entry === 'string' ||
  (isRecord(entry) && typeof entry['id'] === 'string' && typeof entry['label'] === 'string');

/** The nodes with the rows of each matrix behind it, which can be asked for by themselves. */
export const withRows = (nodes: readonly AskedNode[]): AskedNode[] =>
  nodes.flatMap((node) => [
    node,
    ...readOptions(node.attrs['rows']).map(({ id }) => ({ type: node.type, attrs: node.attrs, row: id })),
  ]);

/** What people read of it: its label, and of a row of a matrix that too. */
export function sayAsked(node: AskedNode, row = node.row): string {
  const label = textOf(node, 'label') || textOf(node, 'id');
  if (row === undefined) return label;
  const found = readOptions(node.attrs['rows']).find(({ id }) => id === row);
  return `${label} (${found?.label ?? `${row}: missing`})`;
}

/** The element that an id names, if there is one. */
export type FindAsked = (id: string) => AskedNode | undefined;
