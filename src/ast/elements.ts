import type { answerDefinitions } from './answers/kinds.ts';
import type { AttributeSpecs } from './attributes.ts';
import { defaults } from './attributes/defaults.ts';
import { autofillChoices } from './attributes/autofill-tokens.ts';
import { limits } from './limits.ts';
import type { MomentFormat } from './rules/moments.ts';

/** One row of the elements table. */
type ElementDefinition = {
  readonly group: 'input' | 'content' | 'composite';
  readonly title: string;
  readonly attrs: AttributeSpecs;
};

/** Every type with an answer is an input of the table. */
type InputDefinitions = Record<keyof typeof answerDefinitions, ElementDefinition & { group: 'input' }>;

export type ElementGroup = ElementDefinition['group'];

/** How children are laid out (specification, "Element types"); a step accepts the same five. */
const layouts = ['stack', 'row', 'grid_2', 'grid_3', 'grid_4'] as const;

const id = { kind: 'id', title: 'Id', required: true } as const;
const label = { kind: 'string', title: 'Label', required: true, maxBytes: limits.labelBytes } as const;
const description = { kind: 'string', title: 'Description', maxBytes: limits.textBytes } as const;
const layout = { kind: 'one-of', title: 'Layout', values: layouts, default: defaults.layout } as const;
const columnSpan = { kind: 'integer', title: 'Columns', min: 1, max: 4, default: defaults.col_span } as const;
/** How the options of a question stand; those of yes and no are beside each other unless the form says otherwise. */
const optionsLayout = { kind: 'one-of', title: 'Options', values: layouts } as const;
const count = <Title extends string>(title: Title, min: number, max: number) =>
  ({ kind: 'count', title, min, max }) as const;

/** When an element or a step is on the page; without either it always is. */
const logic = {
  show_when: { kind: 'condition', title: 'Show when' },
  hide_when: { kind: 'condition', title: 'Hide when' },
} as const;

const inputAttributes = {
  id,
  label,
  placeholder: { kind: 'string', title: 'Placeholder', maxBytes: limits.textBytes },
  help_text: { kind: 'string', title: 'Help text', maxBytes: limits.textBytes },
  error_message: { kind: 'string', title: 'Error message', maxBytes: limits.labelBytes },
  required: { kind: 'boolean', title: 'Required', default: defaults.required },
  require_when: { kind: 'condition', title: 'Require when' },
  ...logic,
  col_span: columnSpan,
} as const;

/** What a browser may fill in: what it knows of the visitor (HTML, "autofill"), nothing, or what the id says. */
const autocomplete = {
  kind: 'one-of',
  title: 'Filled in by the browser',
  values: autofillChoices,
  default: defaults.autocomplete,
} as const;

const lengthAttributes = {
  ...inputAttributes,
  autocomplete,
  min_length: count('Shortest length', 0, limits.answerBytes),
  max_length: count('Longest length', 1, limits.answerBytes),
} as const;

const proseAttributes = { ...lengthAttributes, pattern: { kind: 'pattern', title: 'Pattern' } } as const;

const numberAttributes = {
  ...inputAttributes,
  min: { kind: 'number', title: 'Least' },
  max: { kind: 'number', title: 'Most' },
  step: { kind: 'number', title: 'Step', isPositive: true },
} as const;

const momentAttributes = <Format extends MomentFormat>(format: Format) =>
  ({
    ...inputAttributes,
    min: { kind: 'moment', title: 'Earliest', format },
    max: { kind: 'moment', title: 'Latest', format },
  }) as const;

const selectionAttributes = {
  ...inputAttributes,
  options: {
    kind: 'strings',
    title: 'Options',
    required: true,
    maxItems: limits.options,
    maxBytes: limits.labelBytes,
  },
  other: { kind: 'boolean', title: 'Other answer', default: defaults.other },
} as const;

const radioAttributes = {
  ...selectionAttributes,
  options_layout: { ...optionsLayout, default: defaults.options_layout },
} as const;

const choicesAttributes = {
  ...radioAttributes,
  min_choices: count('Fewest choices', 0, limits.options + 1),
  max_choices: count('Most choices', 1, limits.options + 1),
} as const;

const uploadAttributes = {
  ...inputAttributes,
  accept: { kind: 'file-types', title: 'File types' },
  max_file_size: count('Largest file in bytes', 1, limits.fileBytes),
  min_files: count('Fewest files', 0, limits.files),
  max_files: count('Most files', 1, limits.files),
} as const;

const dividerAttributes = { id: { kind: 'id', title: 'Id' }, ...logic, col_span: columnSpan } as const;
const contentAttributes = { ...dividerAttributes, label } as const;

/** Attributes of the root node. */
export const formAttributes = {
  name: { kind: 'string', title: 'Name', required: true, maxBytes: limits.labelBytes },
  description,
} as const satisfies AttributeSpecs;

/** Attributes of a step. */
export const stepAttributes = {
  id: { kind: 'id', title: 'Id' },
  title: { kind: 'string', title: 'Title', maxBytes: limits.labelBytes },
  description,
  layout,
  ...logic,
  jumps: { kind: 'jumps', title: 'Jumps' },
} as const satisfies AttributeSpecs;

/**
 * THE table of the form language (specification, "Form AST"; docs/rules.md 17).
 * Validation, JSON Schema, answers, the builder and the page all read it: a new element type is a row here,
 * its answer in `answers/kinds.ts`, its input in the page renderer and its panel in the builder.
 */
export const elements = {
  text: { group: 'input', title: 'Short text', attrs: proseAttributes },
  textarea: { group: 'input', title: 'Long text', attrs: proseAttributes },
  email: { group: 'input', title: 'Email', attrs: lengthAttributes },
  phone: { group: 'input', title: 'Phone', attrs: lengthAttributes },
  url: { group: 'input', title: 'Web address', attrs: lengthAttributes },
  number: { group: 'input', title: 'Number', attrs: numberAttributes },
  date: { group: 'input', title: 'Date', attrs: { ...momentAttributes('date'), autocomplete } },
  time: { group: 'input', title: 'Time', attrs: momentAttributes('time') },
  datetime: { group: 'input', title: 'Date and time', attrs: momentAttributes('datetime') },
  dropdown: { group: 'input', title: 'Dropdown', attrs: selectionAttributes },
  radio: { group: 'input', title: 'Single choice', attrs: radioAttributes },
  multiple_choice: { group: 'input', title: 'Multiple choice', attrs: choicesAttributes },
  yes_no: {
    group: 'input',
    title: 'Yes or no',
    attrs: { ...inputAttributes, options_layout: { ...optionsLayout, default: 'grid_2' } },
  },
  file_upload: { group: 'input', title: 'File upload', attrs: uploadAttributes },
  heading: { group: 'content', title: 'Heading', attrs: contentAttributes },
  paragraph: { group: 'content', title: 'Paragraph', attrs: contentAttributes },
  divider: { group: 'content', title: 'Divider', attrs: dividerAttributes },
  composite: {
    group: 'composite',
    title: 'Group',
    attrs: {
      id,
      label,
      layout,
      repeatable: { kind: 'boolean', title: 'Repeatable', default: defaults.repeatable },
      ...logic,
      col_span: columnSpan,
    },
  },
} as const satisfies Record<string, ElementDefinition> & InputDefinitions;

export type ElementType = keyof typeof elements;

type TypeIn<Group extends ElementGroup> = {
  [Type in ElementType]: (typeof elements)[Type]['group'] extends Group ? Type : never;
}[ElementType];

export type InputType = TypeIn<'input'>;
export type ContentType = TypeIn<'content'>;
export type CompositeType = TypeIn<'composite'>;

/** Whether the value names an element type; `constructor` and its like do not. */
export function isElementType(value: unknown): value is ElementType {
  return typeof value === 'string' && Object.hasOwn(elements, value);
}
