import { attributeDefaults } from '../../basics/defaults.ts';
import type { ChoiceAttributes } from '../../basics/options.ts';
import { choicesRules } from '../eager-rules.ts';

type Attributes = ChoiceAttributes & {
  readonly multiple?: boolean;
  readonly min_choices?: number;
  readonly max_choices?: number;
};

/** The answer is always a list, because the form can later allow several choices. */
export const rules = {
  ...choicesRules,
  takesOne: ({ multiple = attributeDefaults.multiple }: Attributes) => !multiple,
  check: ({ multiple = attributeDefaults.multiple, ...attrs }: Attributes, value: unknown) => {
    const { min_choices: _least, max_choices: _most, ...single } = attrs;
    return choicesRules.check(multiple ? attrs : { ...single, max_choices: 1 }, value);
  },
} as const;
