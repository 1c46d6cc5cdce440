import type { ChoiceAttributes } from '../basics/options.ts';
import { itemCountProblem } from '../rules/check-rules.ts';
import { checkChoices } from './choice-rules.ts';
import { toCheckedAnswer } from './rules.ts';

type Attributes = ChoiceAttributes & { readonly min_choices?: number; readonly max_choices?: number };

export const choicesRules = {
  kind: 'choices',
  noun: 'choices',
  check: (attrs: Attributes, value: unknown) => {
    const checked = checkChoices(attrs, value);
    if (!checked.ok) return checked;
    const rules = { least: 'min_choices', most: 'max_choices' } as const;
    const broken = itemCountProblem(checked.value.length, attrs.min_choices, attrs.max_choices, rules);
    return toCheckedAnswer(checked.value, broken);
  },
} as const;
