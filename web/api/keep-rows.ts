/**
 * What stays on the screen while the answer to another question is on its way: the rows of the one before, so that nothing
 * jumps. That there were none says nothing of the next one.
 */
export const keepRows = <Rows extends { readonly pagination: { readonly total_count: number } }>(
  before: Rows | undefined,
): Rows | undefined => (before && before.pagination.total_count > 0 ? before : undefined);
