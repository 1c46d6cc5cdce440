import type { Condition, Jump } from '../basics/condition.ts';
import type { ChoiceOption, Option } from '../basics/options.ts';
import { quote } from '../basics/problems.ts';
import type { Translations } from '../basics/translation-shapes.ts';
import type { ElementType } from '../form/elements.ts';

/** What validation gathers of a step or an element, for the rules that look at the whole form. */
export type LogicNode = {
  readonly path: readonly number[];
  /** Undefined when it has none, or none that can be an id. */
  readonly id: string | undefined;
  readonly type: ElementType | 'step';
  /** The composite around an element, and the repeatable one that it lies in. */
  readonly parent: LogicNode | undefined;
  readonly group: LogicNode | undefined;
  /** The attributes that are right by themselves. */
  readonly attrs: Readonly<Record<string, unknown>> & LogicAttributes;
};

/** The attributes that look at other parts of the form. */
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

/** The options of a node that are offered by a condition. */
export const offeredOptions = ({ options = [] }: LogicAttributes): readonly OfferedOption[] =>
  options.filter(
    (option): option is OfferedOption => typeof option !== 'string' && option.show_when !== undefined,
  );

/** One problem of the form as a whole, at the path of the node that has it. */
export type LogicProblem = { readonly message: string; readonly path: readonly number[] };

/** A node in a message: by its id, else by its type. */
export function nameOfNode({ id, type }: LogicNode): string {
  return id === undefined ? `the ${type}` : quote(id);
}
