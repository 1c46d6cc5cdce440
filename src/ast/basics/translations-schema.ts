import { languageTagSource } from './match-language.ts';

/** An attribute that holds translations. */
export const translationsReference = { $ref: '#/components/schemas/Translations' };

const text = { type: 'string', minLength: 1 };

/** The texts of a node in the form's other languages, for OpenAPI. */
export const translationsSchema = {
  title: 'Translations',
  type: 'object',
  propertyNames: { pattern: languageTagSource },
  additionalProperties: {
    type: 'object',
    additionalProperties: { anyOf: [text, { type: 'object', additionalProperties: text }] },
  },
  examples: [{ de: { label: 'Ihr Name' } }],
  description:
    "The texts of a node in the form's other languages: by the attribute, and the labels of options by their ids.",
};
