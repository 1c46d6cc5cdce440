/** A difference that is intended: in which files, which changed lines, and why. */
export type Allowed = { readonly file: RegExp; readonly line: RegExp; readonly reason: string };

/**
 * The differences from the recorded commit that are allowed. A line of a difference is compared without its `+` or `-`.
 * Every other difference fails the run.
 */
export const allowed: readonly Allowed[] = [];
