import { answerOfThread } from '#kit/answer-of-thread.ts';
import type { ImportPlan, ImportSource, planImport } from './plan-import.ts';
import type { ImportForm } from './read-line.ts';

/** What `readWorkbook` allows stays far below 256 MB of heap. The deadline holds for CSV files too. */
const limits = {
  megabytes: 256,
  ms: 30_000,
  tooMuch: 'It takes too much to read the file. Import it in parts, or as CSV.',
} as const;

/** planImport on a thread of its own, which may take no more of the machine than it is given. */
export function planBeside(
  workspaceId: string,
  source: ImportSource,
  about: ImportForm,
): Promise<ImportPlan | string> {
  const given: Parameters<typeof planImport> = [source, about];
  return answerOfThread(workspaceId, new URL('plan-thread.ts', import.meta.url), given, limits);
}
