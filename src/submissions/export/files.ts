import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { type FileServices, storageKey } from '#files/stored-files.ts';
import { statement } from '#kit/statement.ts';
import type { ExportedSubmission } from './cells.ts';

const listFilesOfSubmissions = statement('workspace_id ids', 'id submission_id element filename created_at')`
  select id, submission_id, element, filename, created_at from files
  where workspace_id = $workspace_id and submission_id = any ($ids)
  order by submission_id desc, id`;

/**
 * Streams the files of submissions as a ZIP file, one after the other. A file is in the folder of its submission
 * and element: `<submission id>/<element id>/<name>`. Files that were deleted in the meantime are missing.
 */
export function filesStream(
  { database, storage }: FileServices,
  workspaceId: string,
  batches: AsyncIterable<readonly ExportedSubmission[]>,
): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const write = async (): Promise<void> => {
    for await (const batch of batches) {
      const ids = batch.map(({ id }) => id);
      const names = new Set<string>();
      for (const file of await listFilesOfSubmissions(database, { workspace_id: workspaceId, ids })) {
        if (output.destroyed) return;
        const content = await storage.open(storageKey(workspaceId, file.id));
        if (!content) continue;
        const folder = `${file.submission_id}/${portableName(file.element)}`;
        // Most files are compressed already.
        zip.addReadStream(content, uniqueName(names, folder, portableName(file.filename)), {
          mtime: file.created_at,
          mode: 0o100644,
          compress: false,
        });
        const stop = (): unknown => content.destroy();
        output.once('close', stop);
        await once(content, 'close');
        output.off('close', stop);
      }
    }
    zip.end();
  };
  // A failure ends the response early, so that the client sees that it is incomplete.
  zip.on('error', (error: Error) => void output.destroy(error));
  write().catch((error: Error) => void output.destroy(error));
  return output;
}

/** Returns a name that every file system accepts. Names of stored files have no slashes or control characters. */
const portableName = (name: string): string =>
  name
    .replace(/[<>:"|?*]/g, '_')
    .replace(/[. ]+$/, '_')
    .replace(/^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i, '_$1');

/** Returns a path that is not in `names`, ignoring case, and adds it: `cv.pdf`, then `cv (2).pdf`. */
function uniqueName(names: Set<string>, folder: string, filename: string): string {
  const extension = /\.[^.]+$/.exec(filename)?.[0] ?? '';
  const stem = filename.slice(0, filename.length - extension.length);
  let path = `${folder}/${filename}`;
  for (let number = 2; names.has(path.toLowerCase()); number += 1)
    path = `${folder}/${stem} (${number})${extension}`;
  names.add(path.toLowerCase());
  return path;
}
