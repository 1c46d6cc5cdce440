/** The maximum number of characters that wait for a slow reader of a stream. More output is dropped. */
const longestQueue = 1_000_000;

type Name = 'stdout' | 'stderr';

/** The writes that were dropped since this process started, by stream. */
const dropped: Record<Name, number> = { stdout: 0, stderr: 0 };

export const countDroppedWrites = (): Readonly<Record<Name, number>> => dropped;

/** @types/node does not declare `setBlocking`. */
type Handle = { _handle?: { setBlocking?: (isBlocking: boolean) => void } };

/**
 * Keeps this process running if its output fails: the reader is gone (EPIPE), the terminal is closed (EIO) or
 * the disk is full (ENOSPC). Libraries and Node also write directly, so each stream needs an error listener;
 * without one, an error ends the process. A paused terminal (Ctrl-S) blocks no request.
 */
export function ignoreOutputErrors(): void {
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    // `writeOutput` counts the error.
    stream.on('error', () => {});
    if (stream.isTTY) (stream as Handle)['_handle']?.setBlocking?.(false);
  }
}

/**
 * Writes text. If that fails or the queue is full, drops and counts it. Never throws, never waits.
 * @param count how many writes the text counts as.
 */
export function writeOutput(name: Name, text: string, count = 1): void {
  const stream = process[name];
  if (stream.writableLength > longestQueue) dropped[name] += count;
  else
    stream.write(text, (error) => {
      if (error) dropped[name] += count;
    });
}
