/** How much of one stream waits for a slow reader, in characters. What comes after it is dropped. */
const longestQueue = 1_000_000;

type Name = 'stdout' | 'stderr';

/** Writes that were dropped since this process started, by stream. */
const dropped: Record<Name, number> = { stdout: 0, stderr: 0 };

export const countDroppedWrites = (): Readonly<Record<Name, number>> => dropped;

/** @types/node leaves out that a terminal can be told not to block. */
type Handle = { _handle?: { setBlocking?: (isBlocking: boolean) => void } };

/**
 * Keeps this process running when its output cannot be written: its reader is gone (EPIPE), its terminal is closed (EIO), its disk
 * is full (ENOSPC). Libraries and Node write past `writeOutput`, so each stream needs a listener: without one, an error ends the process.
 * A terminal that is stopped (Ctrl-S) blocks no request.
 */
export function tolerateLostOutput(): void {
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    // `writeOutput` counts it.
    stream.on('error', () => {});
    if (stream.isTTY) (stream as Handle)['_handle']?.setBlocking?.(false);
  }
}

/** Writes text, or drops and counts it where it cannot be written. Never throws, never waits. */
export function writeOutput(name: Name, text: string): void {
  const stream = process[name];
  if (stream.writableLength > longestQueue) dropped[name] += 1;
  else
    stream.write(text, (error) => {
      if (error) dropped[name] += 1;
    });
}
