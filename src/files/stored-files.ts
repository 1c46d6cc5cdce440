import type { Queryable } from '#kit/statement.ts';
import { storageKey } from './receive.ts';
import { selectStoredFiles } from './queries.ts';

const batch = 1_000;
const first = '00000000-0000-0000-0000-000000000000';

/** Lists the files that were received whole, of all workspaces or of one: what a backup holds. */
export async function* storedFiles(
  db: Queryable,
  ofWorkspace?: string,
): AsyncGenerator<{ key: string; size: number }> {
  let after = { workspace_id: ofWorkspace ?? first, id: first };
  for (;;) {
    const files = await selectStoredFiles(db, {
      after_workspace: after.workspace_id,
      after: after.id,
      limit: batch,
    });
    for (const { workspace_id, id, size } of files) {
      // Rows come workspace by workspace.
      if (ofWorkspace !== undefined && workspace_id !== ofWorkspace) return;
      yield { key: storageKey(workspace_id, id), size };
    }
    if (files.length < batch) return;
    after = files.at(-1)!;
  }
}
