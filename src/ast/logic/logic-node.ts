import type { Condition, Jump } from '../basics/condition.ts';
import type { ChoiceOption, Option } from '../basics/options.ts';
import { quote } from '../basics/problems.ts';
import type { Translations } from '../basics/translation-shapes.ts';
import type { ElementType } from '../form/elements.ts';

/** What validation collects from a step or an element, for the rules over the whole form. */
export type LogicNode = {
  readonly path: readonly number[];
  /** Undefined if the ID is missing or invalid. */
  readonly id: string | undefined;
  readonly type: ElementType | 'step';
  /** The group around an element, and the repeatable group around it. */
  readonly parent: LogicNode | undefined;
  readonly group: LogicNode | undefined;
  /** The attributes that are valid on their own. */
  readonly attrs: Readonly<Record<string, unknown>> & LogicAttributes;
};

/** The attributes that refer to other parts of the form. */
type LogicAttributes = {
  readonly show_when?: Condition;
  readonly hide_when?: Condition;
  readonly require_when?: Condition;
  readonly jumps?: readonly Jump[];
  readonly translations?: Translations;
  readonly formula?: string;
  readonly options?: readonly Option[];
};

type OfferedOption = ChoiceOption & { readonly show_when: Condition };

/** Lists the options of a node with a condition. */
export const offeredOptions = ({ options = [] }: LogicAttributes): readonly OfferedOption[] =>
  options.filter(
    (option): option is OfferedOption => typeof option !== 'string' && option.show_when !== undefined,
  );

/** One problem of the whole form, with the path of its node. */
export type LogicProblem = { readonly message: string; readonly path: readonly number[] };

/** Names a node in a message by its ID or, without one, by its type. */
export function nameOfNode({ id, type }: LogicNode): string {
  return id === undefined ? `the ${type}` : quote(id);
}
