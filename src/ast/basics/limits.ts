/** The limits of answers. They are separate because the page's script needs only these. */
export const answerLimits = {
  /** Characters of an element ID. */
  elementId: 128,
  /** Form name, step title, label or option, in UTF-8 bytes. */
  labelBytes: 1_024,
  /** One text answer, in UTF-8 bytes. */
  answerBytes: 65_536,
  /** Characters of an answer that are shown in another text. */
  pipedCharacters: 300,
  /** The image of a signature, in bytes, and a typed signature, in characters. */
  signatureBytes: 256 * 1024,
  signatureCharacters: 200,
  /** Rows of one repeatable group. */
  rows: 100,
  /** Nesting depth of brackets, functions and operators in a formula. */
  formulaNesting: 30,
  /** States of a pattern times characters of the answer. Limits the work of a match. */
  patternSteps: 1_000_000,
  /** Steps of work of one request (work.ts): about 40 ms, during which no other request is served. */
  workSteps: 4_000_000,
} as const;

/**
 * Every limit of the form language (docs/rules.md 13). If a limit is exceeded, the 422 response contains the
 * number.
 */
export const formLimits = {
  ...answerLimits,
  steps: 100,
  /** Elements of one form, in all steps and groups. */
  elements: 1_000,
  /** Languages of one form. */
  languages: 20,
  /** Nesting depth of groups. */
  nesting: 5,
  /** Options of one selection. */
  options: 500,
  /** Options with images in one question. The page shows all of these images. */
  pictureOptions: 50,
  /** The capacity of an option, and its points, positive or negative. */
  capacity: 10_000,
  points: 1_000_000,
  /** Options of one ranking. For each position, the page has a list of all options. */
  rankedOptions: 20,
  /** Characters of a hidden value, which comes from a URL and is sent with every page. */
  hiddenCharacters: 2_000,
  /** Rows and options of one matrix. The page has a button for each pair. */
  matrixRows: 30,
  matrixOptions: 12,
  /** Options of one form, in all selections. Options of a matrix count once for each row. */
  formOptions: 5_000,
  /** Characters in the texts of one form that HTML must escape. The page is rendered synchronously. */
  markupCharacters: 150_000,
  /** Description, help text, placeholder or confirmation message, in UTF-8 bytes. */
  textBytes: 4_096,
  /** The text of a rich text, in UTF-8 bytes. */
  richTextBytes: 16_384,
  /** Objects, lists, keys and values in one structure. Limits the work on hostile unknown attributes. */
  values: 250_000,
  /** Depth of an unknown attribute, so that a stored structure can always be serialized again. */
  jsonDepth: 64,
  /** Problems listed for one structure. A final message says that there are more. */
  structureErrors: 100,
  /** Problems listed for one submission, equal to the maximum number of elements. */
  answerErrors: 1_000,
  /** Unknown names listed for one submission. A body can contain 30,000, and each error costs work. */
  unknownNames: 100,
  /** Nesting depth of `all`, `any` and `not`. */
  conditionDepth: 5,
  /** Comparisons in one condition. */
  comparisons: 100,
  /** Comparisons in one form, in all conditions. Limits the work of each evaluation. */
  formComparisons: 2_000,
  /** Length of a chain of conditions within a step. Limits the depth of evaluation. */
  logicChain: 200,
  /** Values in one `one_of`. */
  conditionValues: 100,
  /** The JSON of a condition over whole submissions, in bytes. It is read for each event. */
  filterBytes: 16_384,
  /** The text before or after a number, in UTF-8 bytes. */
  affixBytes: 64,
  /** Characters of one formula. */
  formulaCharacters: 2_000,
  /** Characters in all formulas of one form. Limits the work of each evaluation. */
  formCharactersOfFormulas: 20_000,
  /** Jumps of one step. */
  jumps: 50,
  /** Placeholders for answers in the texts of one form. Limits the work of rendering the form. */
  placeholders: 500,
  /** Characters of a pattern. */
  patternLength: 500,
  /** States of a compiled pattern, with its repetitions expanded. */
  patternPlaces: 250,
  /** Files in one upload. A form that requires more could not be completed. */
  files: 10,
  /** One file, in bytes. The operator's limit is usually lower (UPLOAD_MAX_FILE_MB). */
  fileBytes: 5_000 * 1024 * 1024,
  /** File types that one upload accepts. */
  fileTypes: 50,
  /** Confirmations with a condition in one form, and notifications with a condition. */
  byCondition: 20,
  /** Email addresses that are notified of each submission to one form. */
  notificationAddresses: 20,
  /** Text for the search index, in bytes. PostgreSQL rejects a tsvector over 1 MB (docs/rules.md 11). */
  searchBytes: 262_144,
} as const;
