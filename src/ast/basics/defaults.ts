/**
 * The default of each attribute (docs/rules.md 17), for the elements table and for code that reads the tree.
 */
export const attributeDefaults = {
  required: false,
  repeatable: false,
  other: false,
  shuffle: false,
  unique: false,
  verify: false,
  layout: 'stack',
  col_span: 1,
  options_layout: 'stack',
  autocomplete: 'auto',
  levels: 5,
  symbol: 'stars',
  from: 0,
  to: 10,
  display: 'numbers',
  hidden_length: 500,
  multiple: false,
  hidden: false,
  counts: 'form',
} as const;
