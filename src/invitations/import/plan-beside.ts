import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Form } from '#ast/tree.ts';
import { type ImportPlan, type ImportSource, planImport } from './plan-import.ts';

/** A text of so many characters is read while others wait, in a few ms; to start a thread takes longer. */
const shortText = 20_000;

/** planImport, of a long text on a thread of its own: to read five million characters takes half a second. */
export async function planBeside(source: ImportSource, form: Form): Promise<ImportPlan | string> {
  if (source.text.length <= shortText) return planImport(source, form);
  const workerData: Parameters<typeof planImport> = [source, form];
  const thread = new Worker(new URL('plan-thread.ts', import.meta.url), { workerData });
  const [plan] = (await once(thread, 'message')) as [ImportPlan | string];
  return plan;
}
