/** What a file may have, so that it is read in the memory that there is. */
export const workspaceLimits = {
  /** Of the part of a file that comes with one request. */
  partBytes: 8 * 1024 * 1024,
  parts: 8_192,
  /** Of an entry of records: submissions of 1 MB with their histories. */
  recordBytes: 64 * 1024 * 1024,
  /** Lines of one. */
  recordLines: 500,
  /** Of all that is read of a form before its records. */
  formBytes: 128 * 1024 * 1024,
} as const;
