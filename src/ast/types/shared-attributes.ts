import { autofillChoices } from '../basics/autofill-tokens.ts';
import { attributeDefaults } from '../basics/defaults.ts';
import { formLimits } from '../basics/limits.ts';
import type { MomentFormat } from '../rules/moments.ts';

/** The layouts of children (specification, "Element types"). A step accepts the same five. */
const layouts = ['stack', 'row', 'grid_2', 'grid_3', 'grid_4'] as const;

export const id = { kind: 'id', title: 'ID', required: true } as const;
export const label = {
  kind: 'string',
  title: 'Label',
  required: true,
  maxBytes: formLimits.labelBytes,
} as const;
export const layout = {
  kind: 'one-of',
  title: 'Layout',
  values: layouts,
  default: attributeDefaults.layout,
} as const;
/** An unknown layout of a step is rendered as `stack`. */
export const stepLayout = { ...layout, isOpen: true } as const;
/** Forms from tools with 12 columns can span more than a grid has. They span the whole grid. */
export const columnSpan = {
  kind: 'integer',
  title: 'Width',
  min: 1,
  max: 4,
  isOpen: true,
  default: attributeDefaults.col_span,
} as const;
/** The layout of a question's options. */
export const optionsLayout = <Layout extends (typeof layouts)[number]>(usual: Layout) =>
  ({ kind: 'one-of', title: 'Option layout', values: layouts, default: usual }) as const;
export const countAttribute = <Title extends string>(title: Title, min: number, max: number) =>
  ({ kind: 'count', title, min, max }) as const;

/** Every node with texts can have translations. */
export const translations = { kind: 'translations', title: 'Translations' } as const;

/** The visibility of an element or step, which is always shown by default. */
export const visibilityAttributes = {
  show_when: { kind: 'condition', title: 'Show if' },
  hide_when: { kind: 'condition', title: 'Hide if' },
} as const;

export const inputAttributes = {
  id,
  label,
  placeholder: { kind: 'string', title: 'Placeholder', maxBytes: formLimits.textBytes },
  help_text: { kind: 'string', title: 'Help text', maxBytes: formLimits.textBytes },
  error_message: { kind: 'string', title: 'Error message', maxBytes: formLimits.labelBytes },
  required: { kind: 'boolean', title: 'Required', default: attributeDefaults.required },
  require_when: { kind: 'condition', title: 'Require if' },
  valid_when: { kind: 'condition', title: 'Valid if' },
  ...visibilityAttributes,
  col_span: columnSpan,
  translations,
} as const;

/** The attributes of every question, including questions without a placeholder. */
export const { placeholder: _control, ...questionAttributes } = inputAttributes;

/** The autofill token (HTML): what the browser knows of the visitor, nothing, or a guess by ID. */
export const autocomplete = {
  kind: 'one-of',
  title: 'Autofill',
  values: autofillChoices,
  default: attributeDefaults.autocomplete,
} as const;

/**
 * The right answer to a question of a quiz, its points and its explanation. Visitors never receive them before
 * they submit (form/answer-key.ts).
 */
export const quizAttributes = (answers: 'string' | 'number' | 'boolean', format?: MomentFormat) =>
  ({
    correct: { kind: 'correct', title: 'Right answer', answers, ...(format && { format }) },
    points: countAttribute('Points', 1, formLimits.points),
    explanation: { kind: 'string', title: 'Explanation', maxBytes: formLimits.textBytes },
  }) as const;

/** Whether each answer is accepted in only one completed submission of the form. */
export const unique = {
  kind: 'boolean',
  title: 'Unique answers',
  default: attributeDefaults.unique,
} as const;

/** Whether the visitor must enter a code that is sent to the address. */
export const verify = {
  kind: 'boolean',
  title: 'Verify by code',
  default: attributeDefaults.verify,
} as const;

/** Whether each visitor sees the options or questions in another order. */
export const shuffle = <Title extends string>(title: Title) =>
  ({ kind: 'boolean', title, default: attributeDefaults.shuffle }) as const;

/** The attributes of elements that are only shown. */
export const displayElementAttributes = {
  id: { kind: 'id', title: 'ID' },
  ...visibilityAttributes,
  col_span: columnSpan,
} as const;
/** A heading without a label shows `text` or `content`, or nothing (effective-form.ts). */
export const contentAttributes = {
  ...displayElementAttributes,
  label: { kind: 'string', title: 'Label', maxBytes: formLimits.labelBytes },
  translations,
} as const;
