/**
 * The ETag of a thing that can be changed: the moment of its last change, and what else a reading of it shows
 * (a count), which a cache must see and a change need not. Opaque to callers; the console makes it of what a list says.
 */
export const tagOf = (changedAt: Date, seen?: string | number): string =>
  `"${changedAt.getTime().toString(36)}${seen === undefined ? '' : `.${seen}`}"`;
