import type { GroupRow } from '../form/fields.ts';
import type { FormIndex } from '../form/form-index.ts';
import { type Composite, type Element, type InputElement, isComposite, isInput } from '../form/tree.ts';
import type { ComparedValue } from './compare.ts';
import type { FormulaAnswers, FormulaValue } from './formula/run.ts';

/** The answers that a calculation can read. */
export type FormulaContext = {
  readonly index: FormIndex;
  /** The row that contains the calculation. */
  readonly row: GroupRow | undefined;
  readonly isShown: (element: Element) => boolean;
  readonly answerOf: (input: InputElement, row: GroupRow | undefined) => ComparedValue;
  /** The answered rows of a group, by index. */
  readonly rowsOf: (group: Composite) => Iterable<number>;
};

/** Returns the answers by ID for a formula, from its own row or from the row that it iterates. */
export function createFormulaAnswers({
  index: { byId },
  row,
  ...asking
}: FormulaContext): Omit<FormulaAnswers, 'today' | 'work'> {
  const own = row?.group;
  const filled = (group: Composite): number[] => (asking.isShown(group) ? [...asking.rowsOf(group)] : []);
  return {
    attrsOf: (id) => byId.get(id)?.element.attrs ?? {},
    answer(id, at): FormulaValue {
      const { element, group } = byId.get(id) ?? {};
      if (!element) return undefined;
      if (isComposite(element)) return filled(element);
      if (!isInput(element)) return undefined;
      const isOwn = group === undefined || group === own || at === undefined;
      const { isBlank, value } = asking.answerOf(element, isOwn ? row : { group, index: at });
      return isBlank ? undefined : (value as FormulaValue);
    },
    rowsAround(ids) {
      const group = ids.map((id) => byId.get(id)?.group).find((around) => around && around !== own);
      return group && filled(group);
    },
  };
}
