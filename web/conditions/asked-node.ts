import { type ChoiceOption, idOf, labelOf, type Option } from '#ast/answers/options.ts';
import { isRecord, own } from '#ast/json.ts';

/** What a condition can ask: an element of the builder's tree, or one of a form as it is published. */
export type AskedNode = { readonly type: string; readonly attrs: Readonly<Record<string, unknown>> };

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

/** The element that an id names, if there is one. */
export type FindAsked = (id: string) => AskedNode | undefined;
