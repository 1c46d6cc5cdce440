import type { Form } from '#ast/tree.ts';
import { runInThread } from '#kit/run-in-thread.ts';
import { type ImportPlan, type ImportSource, planImport } from './plan-import.ts';

/** A text of so many characters is read while others wait, in a few ms; to start a thread takes longer. */
const shortText = 20_000;

/** Five million characters, the most that are accepted, take far less than both limits. */
const limits = {
  megabytes: 256,
  ms: 30_000,
  tooMuch: 'Reading the file takes too much time or memory. Import it in parts.',
} as const;

/** planImport, of a long text on a thread of its own: to read five million characters takes half a second. */
export async function planBeside(
  workspaceId: string,
  source: ImportSource,
  form: Form,
): Promise<ImportPlan | string> {
  if (source.text.length <= shortText) return planImport(source, form);
  const module = new URL('plan-import.ts', import.meta.url);
  const given: Parameters<typeof planImport> = [source, form];
  return runInThread(workspaceId, { module, name: 'planImport', given }, limits);
}
