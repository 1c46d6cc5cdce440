import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { publishForm } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { freePort } from '#test/service.ts';

/** The longest block of an event loop: wall-clock time, and CPU time of its thread. */
export type Still = { byClock: number; own: number };

/** The longest block that a request may cause. */
const mostMs = 50;

/** Starts a server whose event loop is watched (loop-watch.ts), with a form. */
export async function openWatched() {
  const port = await freePort();
  const watch = fileURLToPath(new URL('loop-watch.ts', import.meta.url));
  const instance = await makeInstance({
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${watch}`,
    LOOP_WATCH_PORT: String(port),
  });
  await instance.start();
  /** Returns the longest block since the last call. */
  const stoodStill = async (): Promise<Still> =>
    (await (await fetch(`http://127.0.0.1:${port}`)).json()) as Still;
  return { instance, owner: await publishForm(instance), stoodStill };
}

/** Prints a result. */
export const say = (name: string, { own, byClock }: Still): void =>
  void process.stdout.write(
    `${own.toFixed(0).padStart(6)} ms, ${byClock.toFixed(0)} by the clock: ${name}\n`,
  );

/** Prints the results, worst first, and asserts that each is within the limit. */
export function holdStill(found: readonly (readonly [name: string, still: Still])[]): void {
  const sorted = found.toSorted(([, left], [, right]) => right.own - left.own);
  for (const [name, still] of sorted) say(name, still);
  // Checks only CPU time, because other programs on the machine add to wall-clock time.
  assert.deepEqual(
    sorted.filter(([, { own }]) => own > mostMs),
    [],
  );
}
