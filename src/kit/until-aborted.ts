/** Waits for work until the signal, and no longer: what is under way then ends by itself. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(signal.reason as Error);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    // One signal may stay for all that a program does.
    signal.removeEventListener('abort', end);
  }
}
