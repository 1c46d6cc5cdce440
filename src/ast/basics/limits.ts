/** The caps on answers, apart from the others because the page's script needs these alone. */
export const answerLimits = {
  /** Characters of an element id. */
  elementId: 128,
  /** Form name, step title, label and option, in UTF-8 bytes. */
  labelBytes: 1_024,
  /** One text answer, in UTF-8 bytes. */
  answerBytes: 65_536,
  /** Characters of an answer that another text shows. */
  pipedCharacters: 300,
  /** The picture of a signature, in bytes, and the name that is typed in its place, in characters. */
  signatureBytes: 256 * 1024,
  signatureCharacters: 200,
  /** Rows of one repeatable composite. */
  rows: 100,
  /** Brackets, functions and operators of a formula inside each other. */
  formulaNesting: 30,
  /** Places of a pattern times characters of the answer: bounds the work of one match. */
  patternSteps: 1_000_000,
  /** Work that one request may cause (work.ts): no more than some 40 ms, in which nobody else is served. */
  workSteps: 4_000_000,
} as const;

/**
 * Every cap of the form language, in one place (docs/rules.md 13).
 * A cap that is exceeded is a 422 whose message carries the number.
 */
export const limits = {
  ...answerLimits,
  steps: 100,
  /** Elements of one form, counted over all steps and composites. */
  elements: 1_000,
  /** Languages of one form. */
  languages: 20,
  /** Composites inside composites. */
  nesting: 5,
  /** Options of one selection. */
  options: 500,
  /** Options of a question whose options are pictures, all of which its page shows. */
  pictureOptions: 50,
  /** Places that an option may have, and what choosing it may count, either way. */
  capacity: 10_000,
  points: 1_000_000,
  /** Options of one ranking, whose page has a list of all of them for each. */
  rankedOptions: 20,
  /** Characters of a hidden value: it comes with an address, and goes along with every page. */
  hiddenCharacters: 2_000,
  /** Rows and options of one matrix, whose page has a button for each in each. */
  matrixRows: 30,
  matrixOptions: 12,
  /** Options of one form, counted over all its selections; those of a matrix in each of its rows. */
  formOptions: 5_000,
  /** Characters of one form's texts that HTML writes otherwise: its page is drawn at once. */
  markupCharacters: 150_000,
  /** Description, help text, placeholder and confirmation message, in UTF-8 bytes. */
  textBytes: 4_096,
  /** The text of a rich text, in UTF-8 bytes. */
  richTextBytes: 16_384,
  /** Objects, lists, keys and values in one structure: bounds the work on hostile unknown attributes. */
  values: 250_000,
  /** Depth of an unknown attribute, so that a stored structure can always be serialised again. */
  jsonDepth: 64,
  /** Problems listed for one structure; the rest is announced in a last message. */
  structureErrors: 100,
  /** Problems listed for one submission: as many as a form may have elements. */
  answerErrors: 1_000,
  /** Unknown names listed for one submission. A body may hold 30,000, and each error takes work to write. */
  unknownNames: 100,
  /** `all`, `any` and `not` inside each other. */
  conditionDepth: 5,
  /** Comparisons in one condition. */
  comparisons: 100,
  /** Comparisons in one form, counted over all conditions: bounds the work of each evaluation. */
  formComparisons: 2_000,
  /** Elements of a step of which each is shown by the next: bounds the depth of the evaluation. */
  logicChain: 200,
  /** Values of one `one_of`. */
  conditionValues: 100,
  /** A condition over whole submissions, as JSON: it is read at each event. */
  filterBytes: 16_384,
  /** What stands around a number, in UTF-8 bytes. */
  affixBytes: 64,
  /** Characters of one formula. */
  formulaCharacters: 2_000,
  /** Characters of the formulas of one form: bounds the work of each evaluation. */
  formCharactersOfFormulas: 20_000,
  /** Jumps of one step. */
  jumps: 50,
  /** Answers that the texts of one form show: bounds the work of drawing it. */
  placeholders: 500,
  /** Characters of a pattern. */
  patternLength: 500,
  /** Places of a compiled pattern, with its repeats written out. */
  patternPlaces: 250,
  /** Files of one upload: a form that asks for more could not be filled in. */
  files: 10,
  /** One file, in bytes. */
  fileBytes: 10 * 1024 * 1024,
  /** Types that one upload accepts. */
  fileTypes: 50,
  /** Confirmations of one form, and notifications, each by a condition. */
  byCondition: 20,
  /** Addresses that hear of each submission. */
  notificationAddresses: 20,
  /** Text handed to the search index; PostgreSQL refuses a tsvector over 1 MB (docs/rules.md 11). */
  searchBytes: 262_144,
} as const;
