/**
 * Keeps the previous rows while the next query loads, so that the page does not jump. An empty result is not
 * kept, because the next one may have rows.
 */
export const keepPreviousRows = <Rows extends { readonly pagination: { readonly total_count: number } }>(
  before: Rows | undefined,
): Rows | undefined => (before && before.pagination.total_count > 0 ? before : undefined);
