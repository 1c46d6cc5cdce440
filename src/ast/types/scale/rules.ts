import { attributeDefaults } from '../../basics/defaults.ts';
import { levelRules } from '../level-rules.ts';

export const rules = levelRules((attrs: { readonly from?: number; readonly to?: number }) => ({
  from: attrs.from ?? attributeDefaults.from,
  to: attrs.to ?? attributeDefaults.to,
}));
