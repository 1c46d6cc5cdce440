/**
 * The number of the rules by which src/submissions/search-text turns a text into terms of the index. A change of these
 * rules increases it, and tasks then rebuild the index (src/submissions/rebuild-index.ts). Searches find the documents
 * of both rules meanwhile.
 */
export const searchRules = 2;
