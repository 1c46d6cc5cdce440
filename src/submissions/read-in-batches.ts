/** The number of rows per round trip. Other requests run in between. */
export const batchSize = 500;

/**
 * Yields submissions in batches, newest first. Reads the next batch while the caller processes the last;
 * memory use is constant.
 * @param read returns the newest `limit` submissions below an id.
 * @param toId the id above the first submission.
 * @param most the maximum number in total; no limit by default.
 */
export async function* readInBatches<Row extends { id: string }>(
  read: (toId: string, limit: number) => Promise<Row[]>,
  toId: string,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[]> {
  const readAhead = (fromId: string, left: number): Promise<Row[]> => {
    const rows = read(fromId, Math.min(left, batchSize));
    // A failure is reported when the caller reads the batch. If the caller has stopped, it is ignored.
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
