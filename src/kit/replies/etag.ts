/**
 * Returns the ETag of a resource that can be changed: the time of its last change, and further visible state
 * such as a count. Caches must see that state, but changes need not match it. The tag is opaque to callers;
 * the console computes it from list items.
 */
export const formatEtag = (changedAt: Date, seen?: string | number): string =>
  `"${changedAt.getTime().toString(36)}${seen === undefined ? '' : `.${seen}`}"`;
