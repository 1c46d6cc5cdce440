import { attributeDefaults } from '../../basics/defaults.ts';
import { levelRules } from '../level-rules.ts';

export const rules = levelRules((attrs: { readonly levels?: number }) => ({
  from: 1,
  to: attrs.levels ?? attributeDefaults.levels,
}));
