import type { Config } from '#kit/config.ts';
import { type Queryable, statement } from '#kit/statement.ts';

/** How much the files of a form take, and those of its workspace. */
const storedBytes = statement(
  'stored_bytes',
  'workspace_id form_id',
  'of_form:bigint of_workspace:bigint',
  `select coalesce(sum(bytes) filter (where form_id = $form_id), 0)::bigint as of_form,
     coalesce(sum(bytes), 0)::bigint as of_workspace
   from stored_bytes where workspace_id = $workspace_id`,
);

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
