import type { Condition, Jump } from '../basics/condition.ts';
import type { ChoiceOption, Option } from '../basics/options.ts';
import { quote } from '../basics/problems.ts';
import type { Translations } from '../basics/translations-schema.ts';
import type { ElementType } from '../form/elements.ts';

/** What validation collects from a step or an element, for the rules over the whole form. */
export type LogicNode = {
  readonly path: readonly number[];
  /** Undefined if the ID is missing or invalid. */
  readonly id: string | undefined;
  readonly type: ElementType | 'step';
  /** The group that contains the element, and the repeatable group that contains it. */
  readonly parent: LogicNode | undefined;
  readonly group: LogicNode | undefined;
  /** The attributes that are valid by themselves. */
  readonly attrs: Readonly<Record<string, unknown>> & LogicAttributes;
};

/** The attributes that refer to other parts of the form. */
type LogicAttributes = {
  readonly show_when?: Condition;
  readonly hide_when?: Condition;
  readonly require_when?: Condition;
  readonly valid_when?: Condition;
  readonly jumps?: readonly Jump[];
  readonly translations?: Translations;
  readonly formula?: string;
  readonly options?: readonly Option[];
};

type OfferedOption = ChoiceOption & { readonly show_when: Condition };

/** Lists the options of a node that have a condition. */
export const listConditionalOptions = ({ options = [] }: LogicAttributes): readonly OfferedOption[] =>
  options.filter(
    (option): option is OfferedOption => typeof option !== 'string' && option.show_when !== undefined,
  );

/** A problem that concerns the whole form, with the path of its node. */
export type LogicProblem = { readonly message: string; readonly path: readonly number[] };

/** The end of a sentence about an element whose answer only the server knows. */
export const isScoredLater = 'which is scored after the form is submitted';

/** Returns a name for a node in a message: its ID or, without one, its type. */
export function nameOfNode({ id, type }: LogicNode): string {
  return id === undefined ? `the ${type}` : quote(id);
}
