/** An intended difference: the files, the changed lines, and the reason. */
export type Allowed = { readonly file: RegExp; readonly line: RegExp; readonly reason: string };

/**
 * The allowed differences from the recorded commit. A line is compared without its `+` or `-`. Any other
 * difference fails the run.
 */
export const allowed: readonly Allowed[] = [];
