import type { Config } from '#kit/config.ts';
import type { Queryable } from '#kit/statement.ts';
import { storedBytes } from './queries.ts';

const megabyte = 1024 * 1024;
type Limits = Pick<Config['limits'], 'uploadMbPerForm' | 'uploadMbPerWorkspace'>;

/** How many bytes of files a form may still take, by its own limit and by that of its workspace. */
export async function readRoom(
  db: Queryable,
  limits: Limits,
  { workspaceId, formId }: { workspaceId: string; formId: string },
): Promise<number> {
  const [stored] = await storedBytes(db, { workspace_id: workspaceId, form_id: formId });
  return Math.min(
    roomIn(limits.uploadMbPerForm, stored!.of_form),
    roomIn(limits.uploadMbPerWorkspace, stored!.of_workspace),
  );
}

/** 0: without end. */
const roomIn = (megabytes: number, stored: number): number =>
  megabytes === 0 ? Number.POSITIVE_INFINITY : megabytes * megabyte - stored;
