/**
 * Every cap of the form language, in one place (DESIGN 4.13).
 * A cap that is exceeded is a 422 whose message carries the number.
 */
export const limits = {
  steps: 100,
  /** Elements of one form, counted over all steps and composites. */
  elements: 1_000,
  /** Composites inside composites. */
  nesting: 5,
  options: 500,
  /** Form name, step title, label and option, in UTF-8 bytes. */
  labelBytes: 1_024,
  /** Description, help text, placeholder and confirmation message, in UTF-8 bytes. */
  textBytes: 4_096,
  /** One text answer, in UTF-8 bytes. */
  answerBytes: 65_536,
  /** Rows of one repeatable composite. */
  rows: 100,
  /** Objects, lists, keys and values in one structure: bounds the work on hostile unknown attributes. */
  values: 250_000,
  /** Depth of an unknown attribute, so that a stored structure can always be serialised again. */
  jsonDepth: 64,
  /** Problems listed for one structure; the rest is announced in a last message. */
  structureErrors: 100,
  /** Problems listed for one submission: as many as a form may have elements. */
  answerErrors: 1_000,
  /** Text handed to the search index; PostgreSQL refuses a tsvector over 1 MB (DESIGN 4.11). */
  searchBytes: 262_144,
} as const;
