import { type TextFormat, textFormats } from '../rules/text-formats.ts';

/** What an input's answer is; several element types may share a kind (docs/rules.md 10). */
type AnswerDefinition =
  | { readonly kind: 'text'; readonly format: TextFormat }
  | { readonly kind: 'number' | 'boolean' | 'choice' | 'choices' | 'files' };

export type AnswerKind = AnswerDefinition['kind'];

const text = <Format extends keyof typeof textFormats>(format: Format) =>
  ({ kind: 'text', format: textFormats[format] }) as const;

/**
 * The answer of every input of the elements table. It stands apart from the table because the page's script
 * checks answers with it and has no room for titles and attributes.
 */
export const answerDefinitions = {
  text: text('line'),
  textarea: text('lines'),
  email: text('email'),
  phone: text('phone'),
  url: text('url'),
  number: { kind: 'number' },
  date: text('date'),
  time: text('time'),
  datetime: text('datetime'),
  dropdown: { kind: 'choice' },
  radio: { kind: 'choice' },
  multiple_choice: { kind: 'choices' },
  yes_no: { kind: 'boolean' },
  file_upload: { kind: 'files' },
} as const satisfies Readonly<Record<string, AnswerDefinition>>;
