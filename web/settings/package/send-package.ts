import type { ReplyOf } from '#app/operations.ts';
import { call } from '../../api/operations.ts';
import { mayPass } from '../../api/query-client.ts';

export type WorkspaceImport = ReplyOf<'getWorkspaceImport'>;

/** So often a part is sent again that did not arrive. */
const triesOfPart = 3;

/**
 * Sends a file in parts, and has it taken in. The browser reads one part at a time.
 * @param onSent how much of it arrived, of 1.
 */
export async function sendPackage(
  workspaceId: string,
  file: File,
  onSent: (share: number) => void,
): Promise<WorkspaceImport> {
  const { id, part_bytes } = await call(workspaceId, 'beginWorkspaceImport', { body: {} });
  for (let at = 0, number = 1; at < file.size; at += part_bytes, number += 1) {
    // A type that no HTML form of another site can send.
    const body = file.slice(at, at + part_bytes, 'application/gzip');
    await sendPart(() => call(workspaceId, 'addWorkspacePart', { params: { id, number }, body }));
    onSent(Math.min(1, (at + body.size) / file.size));
  }
  return call(workspaceId, 'startWorkspaceImport', { params: { id } });
}

/** A part may come twice: one whose answer was lost is sent again. */
async function sendPart(send: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await send();
      return;
    } catch (error) {
      if (tries === triesOfPart || !mayPass(error)) throw error;
    }
  }
}
