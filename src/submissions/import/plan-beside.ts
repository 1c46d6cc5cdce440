import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ImportForm, ImportPlan, ImportSource, planImport } from './plan-import.ts';

/** A workbook may unpack to thousands of times its size: its thread has so much, and so long. */
const mostMegabytes = 256;
const mostMs = 30_000;
const tooMuch = 'It takes too much to read the file. Import it in parts, or as CSV.';

/** planImport on a thread of its own, which may take no more of the machine than it is given. */
export async function planBeside(source: ImportSource, about: ImportForm): Promise<ImportPlan | string> {
  const workerData: Parameters<typeof planImport> = [source, about];
  const thread = new Worker(new URL('plan-thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  });
  const timer = setTimeout(() => void thread.terminate(), mostMs);
  const ended = once(thread, 'exit').then(() => [tooMuch] as const);
  try {
    const [plan] = (await Promise.race([once(thread, 'message'), ended])) as [ImportPlan | string];
    return plan;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') return tooMuch;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
