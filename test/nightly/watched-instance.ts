import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { publishForm } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { freePort } from '#test/service.ts';

/** How long an event loop stood still at most: by the clock, and in its own thread's time. */
export type Still = { byClock: number; own: number };

/** No request may keep others waiting for longer. */
const mostMs = 50;

/** A server whose event loop is watched (loop-watch.ts), with a form of its own. */
export async function openWatched() {
  const port = await freePort();
  const watch = fileURLToPath(new URL('loop-watch.ts', import.meta.url));
  const instance = await makeInstance({
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${watch}`,
    LOOP_WATCH_PORT: String(port),
  });
  await instance.start();
  /** Since it was asked before. */
  const stoodStill = async (): Promise<Still> =>
    (await (await fetch(`http://127.0.0.1:${port}`)).json()) as Still;
  return { instance, owner: await publishForm(instance), stoodStill };
}

/** Prints one of them. */
export const say = (name: string, { own, byClock }: Still): void =>
  void process.stdout.write(
    `${own.toFixed(0).padStart(6)} ms, ${byClock.toFixed(0)} by the clock: ${name}\n`,
  );

/** Prints what was found, the worst first, and holds each against what is allowed. */
export function holdStill(found: readonly (readonly [name: string, still: Still])[]): void {
  const sorted = found.toSorted(([, left], [, right]) => right.own - left.own);
  for (const [name, still] of sorted) say(name, still);
  // On a machine of its own a server has the clock's time for itself.
  assert.deepEqual(
    sorted.filter(([, { own }]) => own > mostMs),
    [],
  );
}
