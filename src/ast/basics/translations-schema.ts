import { languageTagPatternSource } from './language-tags.ts';

/** The schema reference of translation attributes. */
export const translationsReference = { $ref: '#/components/schemas/Translations' };

const text = { type: 'string', minLength: 1 };

/** The OpenAPI schema of a node's texts in the other languages of the form. */
export const translationsSchema = {
  title: 'Translations',
  type: 'object',
  propertyNames: { pattern: languageTagPatternSource },
  additionalProperties: {
    type: 'object',
    additionalProperties: { anyOf: [text, { type: 'object', additionalProperties: text }] },
  },
  examples: [{ de: { label: 'Ihr Name' } }],
  description:
    'The text of a node in the other languages of the form, by attribute. Option labels are listed by option ID.',
};

/** The texts of one node in one language, by attribute. Attributes with options have labels by ID. */
export type Translation = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** The texts of a node in the other languages of the form, by BCP 47 tag. */
export type Translations = Readonly<Record<string, Translation>>;
