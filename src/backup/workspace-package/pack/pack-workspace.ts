import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { storageKey } from '#files/receive.ts';
import type { ImagesContext } from '#forms/images/images.ts';
import { now } from '#kit/clock.ts';
import { firstId } from '#kit/cursor.ts';
import { ApiError } from '#kit/errors.ts';
import { type TarWriter, tarStream } from '#kit/tar-stream.ts';
import { addPackage, formInWorkspace } from '../../form-package/package-file.ts';
import { gatherForm } from '../../form-package/pack-form.ts';
import { selectFormsToPack, selectToPack, selectUnsubscribed } from './queries.ts';
import { type Counts, entryNames, noCounts, type RecordKind, recordKinds } from '../shapes.ts';

/**
 * A workspace as one file, read while it is written: each form as its package has it, then what hangs on it, some hundred
 * lines at a time, with the bytes of files behind the lines that name them. Each form is as it was when its turn came, and
 * one that is deleted meanwhile is not in it.
 */
export const packWorkspace = (
  context: ImagesContext,
  { id: workspaceId, name }: { id: string; name: string },
): Readable =>
  tarStream(async (tar) => {
    const addJson = (entry: string, value: object) => tar.addText(entry, `${JSON.stringify(value)}\n`);
    await addJson(entryNames.workspace, { formloom_workspace: 1, id: workspaceId, name, made_at: now() });
    const counts = { ...noCounts };
    for (const { id: formId, ...state } of await selectFormsToPack(context.database, {
      workspace_id: workspaceId,
    })) {
      const packed = await gatherUnlessGone(context, { workspaceId, formId });
      if (!packed) continue;
      const folder = entryNames.folder(formId);
      await addPackage(tar, folder, packed);
      await addJson(`${folder}${entryNames.state}`, state);
      counts.forms += 1;
      const { versions, versions_left_out } = packed.manifest;
      const place = { workspaceId, formId, lastVersion: versions + versions_left_out };
      for (const kind of recordKinds) await addRecords(context, tar, place, kind, counts);
    }
    const unsubscribed = await selectUnsubscribed(context.database, { workspace_id: workspaceId });
    await addJson(entryNames.ending, { ...counts, unsubscribed });
  });

async function gatherUnlessGone(context: ImagesContext, place: { workspaceId: string; formId: string }) {
  try {
    return await gatherForm(context, { ...place, withWebhooks: true }, formInWorkspace);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** A key that lies before all of its kind. */
const first = (kind: RecordKind): string => (kind === 'visits' ? '0001-01-01' : firstId);

async function addRecords(
  context: ImagesContext,
  tar: TarWriter,
  { workspaceId, formId, lastVersion }: { workspaceId: string; formId: string; lastVersion: number },
  kind: RecordKind,
  counts: Counts,
): Promise<void> {
  const folder = entryNames.folder(formId);
  const read = selectToPack[kind];
  let after = first(kind);
  for (let part = 1; ; part += 1) {
    const place = { workspace_id: workspaceId, form_id: formId, last_version: lastVersion };
    const rows = await read(context.database, { ...place, after });
    const last = rows.at(-1);
    if (!last) return;
    after = last.key;
    await tar.addText(folder + entryNames.records(kind, part), rows.map(({ line }) => `${line}\n`).join(''));
    if (kind in counts) counts[kind as keyof Counts] += rows.length;
    if (kind === 'submissions' || kind === 'held')
      for (const { line } of rows)
        counts.files += await addFiles(context, tar, { workspaceId, folder }, line);
  }
}

/** Those that a line names, but for what is lost. @returns how many. */
async function addFiles(
  { storage }: ImagesContext,
  tar: TarWriter,
  { workspaceId, folder }: { workspaceId: string; folder: string },
  line: string,
): Promise<number> {
  // Most lines have none, and are not read.
  if (line.endsWith('"files" : []}')) return 0;
  let count = 0;
  const { files } = JSON.parse(line) as { files: readonly { id: string; size: number }[] };
  for (const { id, size } of files) {
    const content = await storage.open(storageKey(workspaceId, id));
    if (!content) continue;
    await tar.add(
      folder + entryNames.file(id),
      size,
      size === 0 ? Readable.from([await buffer(content)]) : content,
    );
    count += 1;
  }
  return count;
}
