/**
 * Returns the first `limit` problems, then `more` if there are others. Reads the source lazily, so that
 * hostile input causes no more work once the list is full.
 */
export function limitProblems<Problem>(problems: Iterable<Problem>, limit: number, more: Problem): Problem[] {
  const found: Problem[] = [];
  for (const problem of problems) {
    if (found.length === limit) return [...found, more];
    found.push(problem);
  }
  return found;
}

/** Quotes text from the input for a message: at most 64 characters, with control characters escaped. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text);
}

/** Formats a number of bytes for a person: `1 KB (1024 bytes)`. */
export function formatExactBytes(bytes: number): string {
  return `${bytes / 1024} KB (${bytes} bytes)`;
}

/**
 * The `code` of every item of `errors`, for programs; people read `message`. The meaning of a code never
 * changes. To add a code, add a row here; the OpenAPI document lists these rows.
 */
export const problemCodes = {
  required: 'A value is missing or blank.',
  unknown_field: 'No property, parameter, setting or question has this name.',
  invalid_type: 'The value has the wrong JSON type.',
  invalid_format: 'The text is not in the expected format: an email address, a date, a UUID, a pattern.',
  invalid_choice: 'The value is not one of the allowed values.',
  invalid_reference: 'The value refers to something that does not exist, such as an element or an image.',
  duplicate_id: 'Two elements of a form have the same ID.',
  duplicate: 'The value is already in use, or is listed twice.',
  too_long: 'The text is longer than allowed.',
  too_short: 'The text is shorter than allowed.',
  too_large: 'The number, date or file is larger or later than allowed.',
  too_small: 'The number or date is smaller or earlier than allowed.',
  too_many: 'There are more items than allowed.',
  too_few: 'There are fewer items than allowed.',
  too_deep: 'The value is nested deeper than allowed.',
  not_storable:
    'The value cannot be stored unchanged: a NUL character, an unpaired surrogate, or a number that would be rounded.',
  not_allowed: 'The value is valid, but not allowed here or with another value.',
  mismatch: 'The value differs from the one that it must repeat.',
  not_verified: 'The email address is not verified by a code, or the code is wrong or has expired.',
  full: 'The quota for this choice has been reached.',
  file_type: 'The file is not of an accepted type.',
  more: 'There are more problems than the response lists.',
  invalid: 'Another problem, described in `message`.',
} as const satisfies Readonly<Record<string, string>>;

export type ProblemCode = keyof typeof problemCodes;
