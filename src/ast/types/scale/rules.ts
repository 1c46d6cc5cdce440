import { defaults } from '../../basics/defaults.ts';
import { levelRules } from '../level-rules.ts';

export const rules = levelRules((attrs: { readonly from?: number; readonly to?: number }) => ({
  from: attrs.from ?? defaults.from,
  to: attrs.to ?? defaults.to,
}));
