import type { AttributeSpecs } from './attributes.ts';
import { limits } from './limits.ts';
import { type TextFormat, textFormats } from './text-formats.ts';

/** What an input's answer is; several element types may share a kind (DESIGN 4.10). */
export type AnswerDefinition =
  | { readonly kind: 'text'; readonly format: TextFormat }
  | { readonly kind: 'number' | 'boolean' | 'choice' | 'choices' | 'files' };

export type AnswerKind = AnswerDefinition['kind'];

/** One row of the elements table. */
export type ElementDefinition = { readonly title: string; readonly attrs: AttributeSpecs } & (
  | { readonly group: 'input'; readonly answer: AnswerDefinition }
  | { readonly group: 'content' | 'composite' }
);

export type ElementGroup = ElementDefinition['group'];

/** How children are laid out (specification, "Element types"); a step accepts the same five. */
export const layouts = ['stack', 'row', 'grid_2', 'grid_3', 'grid_4'] as const;

const id = { kind: 'id', title: 'Id', required: true } as const;
const label = { kind: 'string', title: 'Label', required: true, maxBytes: limits.labelBytes } as const;
const description = { kind: 'string', title: 'Description', maxBytes: limits.textBytes } as const;
const layout = { kind: 'one-of', title: 'Layout', values: layouts, default: 'stack' } as const;
const columnSpan = { kind: 'integer', title: 'Columns', min: 1, max: 4, default: 1 } as const;

const inputAttributes = {
  id,
  label,
  placeholder: { kind: 'string', title: 'Placeholder', maxBytes: limits.textBytes },
  help_text: { kind: 'string', title: 'Help text', maxBytes: limits.textBytes },
  required: { kind: 'boolean', title: 'Required', default: false },
  col_span: columnSpan,
} as const;

const selectionAttributes = {
  ...inputAttributes,
  options: {
    kind: 'strings',
    title: 'Options',
    required: true,
    maxItems: limits.options,
    maxBytes: limits.labelBytes,
  },
} as const;

const dividerAttributes = { id: { kind: 'id', title: 'Id' }, col_span: columnSpan } as const;
const contentAttributes = { ...dividerAttributes, label } as const;

/** Attributes of the root node. */
export const formAttributes = {
  name: { kind: 'string', title: 'Name', required: true, maxBytes: limits.labelBytes },
  description,
} as const satisfies AttributeSpecs;

/** Attributes of a step. */
export const stepAttributes = {
  title: { kind: 'string', title: 'Title', maxBytes: limits.labelBytes },
  description,
  layout,
} as const satisfies AttributeSpecs;

const text = <Format extends keyof typeof textFormats>(format: Format) =>
  ({ kind: 'text', format: textFormats[format] }) as const;

/**
 * THE table of the form language (specification, "Form AST"; DESIGN 4.17).
 * Validation, JSON Schema, answers, the builder and the page all read it: a new element type is a row here,
 * its input in the page renderer and its panel in the builder.
 */
export const elements = {
  text: { group: 'input', title: 'Short text', attrs: inputAttributes, answer: text('line') },
  textarea: { group: 'input', title: 'Long text', attrs: inputAttributes, answer: text('lines') },
  email: { group: 'input', title: 'Email', attrs: inputAttributes, answer: text('email') },
  phone: { group: 'input', title: 'Phone', attrs: inputAttributes, answer: text('phone') },
  url: { group: 'input', title: 'Web address', attrs: inputAttributes, answer: text('url') },
  number: { group: 'input', title: 'Number', attrs: inputAttributes, answer: { kind: 'number' } },
  date: { group: 'input', title: 'Date', attrs: inputAttributes, answer: text('date') },
  time: { group: 'input', title: 'Time', attrs: inputAttributes, answer: text('time') },
  datetime: { group: 'input', title: 'Date and time', attrs: inputAttributes, answer: text('datetime') },
  dropdown: { group: 'input', title: 'Dropdown', attrs: selectionAttributes, answer: { kind: 'choice' } },
  radio: { group: 'input', title: 'Single choice', attrs: selectionAttributes, answer: { kind: 'choice' } },
  multiple_choice: {
    group: 'input',
    title: 'Multiple choice',
    attrs: selectionAttributes,
    answer: { kind: 'choices' },
  },
  yes_no: { group: 'input', title: 'Yes or no', attrs: inputAttributes, answer: { kind: 'boolean' } },
  file_upload: { group: 'input', title: 'File upload', attrs: inputAttributes, answer: { kind: 'files' } },
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
      repeatable: { kind: 'boolean', title: 'Repeatable', default: false },
      col_span: columnSpan,
    },
  },
} as const satisfies Record<string, ElementDefinition>;

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
