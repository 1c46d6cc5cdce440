import { autofillChoices } from '../basics/autofill-tokens.ts';
import { defaults } from '../basics/defaults.ts';
import { limits } from '../basics/limits.ts';

/** How children are laid out (specification, "Element types"); a step accepts the same five. */
const layouts = ['stack', 'row', 'grid_2', 'grid_3', 'grid_4'] as const;

export const id = { kind: 'id', title: 'Id', required: true } as const;
export const label = { kind: 'string', title: 'Label', required: true, maxBytes: limits.labelBytes } as const;
export const layout = { kind: 'one-of', title: 'Layout', values: layouts, default: defaults.layout } as const;
/** A step renders an unknown layout as `stack`. */
export const stepLayout = { ...layout, isOpen: true } as const;
/** Forms from tools with 12 columns say more than a grid has: it is drawn as wide as the grid. */
export const columnSpan = {
  kind: 'integer',
  title: 'Columns',
  min: 1,
  max: 4,
  isOpen: true,
  default: defaults.col_span,
} as const;
/** How the options of a question stand. */
export const optionsLayout = <Layout extends (typeof layouts)[number]>(usual: Layout) =>
  ({ kind: 'one-of', title: 'Arrangement', values: layouts, default: usual }) as const;
export const count = <Title extends string>(title: Title, min: number, max: number) =>
  ({ kind: 'count', title, min, max }) as const;

/** Every node with texts may have them in the form's other languages. */
export const translations = { kind: 'translations', title: 'Translations' } as const;

/** When an element or a step is on the page; without either it always is. */
export const logic = {
  show_when: { kind: 'condition', title: 'Show when' },
  hide_when: { kind: 'condition', title: 'Hide when' },
} as const;

export const inputAttributes = {
  id,
  label,
  placeholder: { kind: 'string', title: 'Placeholder', maxBytes: limits.textBytes },
  help_text: { kind: 'string', title: 'Help text', maxBytes: limits.textBytes },
  error_message: { kind: 'string', title: 'Error message', maxBytes: limits.labelBytes },
  required: { kind: 'boolean', title: 'Required', default: defaults.required },
  require_when: { kind: 'condition', title: 'Require when' },
  ...logic,
  col_span: columnSpan,
  translations,
} as const;

/** What every question has, also one without a control that could be empty. */
export const { placeholder: _control, ...askedAttributes } = inputAttributes;

/** What a browser may fill in: what it knows of the visitor (HTML, "autofill"), nothing, or what the id says. */
export const autocomplete = {
  kind: 'one-of',
  title: 'Filled in by the browser',
  values: autofillChoices,
  default: defaults.autocomplete,
} as const;

/** Whether an answer is taken from one completed submission of the form only. */
export const unique = { kind: 'boolean', title: 'Each answer once', default: defaults.unique } as const;

/** What everything has that is only shown. */
export const shownAttributes = { id: { kind: 'id', title: 'Id' }, ...logic, col_span: columnSpan } as const;
/** A heading without a label shows `text` or `content`, or nothing (effective-form.ts). */
export const contentAttributes = {
  ...shownAttributes,
  label: { kind: 'string', title: 'Label', maxBytes: limits.labelBytes },
  translations,
} as const;
