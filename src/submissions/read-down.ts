/** Rows in one round trip. The event loop serves others between two. */
export const batchSize = 500;

/**
 * Submissions from the newest down, in batches; the next one is read while the reader is at the last, and memory is
 * constant.
 * @param read the newest `limit` below an id.
 * @param toId where it begins: the id above the first.
 * @param most how many in all, without end unless said.
 */
export async function* readDown<Row extends { id: string }>(
  read: (toId: string, limit: number) => Promise<Row[]>,
  toId: string,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[]> {
  const readAhead = (fromId: string, left: number): Promise<Row[]> => {
    const rows = read(fromId, Math.min(left, batchSize));
    // A failure is told when the reader comes to it, and to nobody when the reader has gone.
    rows.catch(() => {});
    return rows;
  };
  let left = most;
  let coming = readAhead(toId, left);
  for (;;) {
    const rows = await coming;
    left -= rows.length;
    const isLast = rows.length < batchSize || left === 0;
    if (!isLast) coming = readAhead(rows.at(-1)!.id, left);
    yield rows;
    if (isLast) return;
  }
}
