import type { FileAnswer } from '#ast/answers/check-answers.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { byteLength, cutToBytes, normalizeText } from '#ast/basics/text.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { typeOfBytes } from '#kit/mime-type.ts';
import { jsonb, nullable, type Queryable, statement } from '#kit/statement.ts';
import type { Storage, StoredPieces } from '#kit/storage.ts';
import { type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';

/**
 * An upload that arrives in pieces (resumable-uploads.ts): its length, and the parts that an object store has of it.
 */
export type PendingUpload = { length: number } & Omit<StoredPieces, 'size'>;
export const pendingUpload = nullable(jsonb<PendingUpload>());

/** Adds a file that is being received. No submission has claimed it yet. */
export const insertUnclaimedFile = statement(
  ['workspace_id id form_id element filename content_type created_at', { upload: pendingUpload }],
  '',
)`
  insert into files (workspace_id, id, form_id, element, filename, content_type, size, created_at, upload)
  values ($workspace_id, $id, $form_id, $element, $filename, $content_type, 0, $created_at, $upload)`;

/** Stores the true size and type, which are known once the file is received. */
export const setFileContent = statement('workspace_id id size content_type', 'id')`
  update files set size = $size, content_type = $content_type, upload = null
  where workspace_id = $workspace_id and id = $id returning id`;

/** Selects what is stored of the uploads among files. */
const selectPendingUploads = statement('workspace_id ids', ['id size', { upload: pendingUpload }])`
  select id, size, upload from files where workspace_id = $workspace_id and id = any ($ids) and upload is not null`;

/** Marks files that no submission has claimed, so that none can claim them later. */
const markUnclaimedFiles = statement('workspace_id ids', 'id')`
  update files set claimed_at = now()
  where workspace_id = $workspace_id and id = any ($ids) and submission_id is null and claimed_at is null
  returning id`;

/**
 * Deletes the rows of marked files, after their bytes. Locks the files first, then the counters of their
 * forms (stored_bytes), each in the order of their ids. Triggers of each row update these counters, so two
 * deletions in different orders would deadlock. All other updates of a counter concern one file
 * (setFileContent), or files without a size.
 */
export const deleteMarkedFileRows = statement('workspace_id ids', '')`
  with taken as materialized (
    select id, form_id from files
     where workspace_id = $workspace_id and id = any ($ids)
       and submission_id is null and held_id is null and claimed_at is not null
     order by id for update),
  counters as materialized (
    select form_id from stored_bytes
     where workspace_id = $workspace_id and form_id = any (array(select form_id from taken))
     order by form_id for update)
  delete from files
   where workspace_id = $workspace_id and id in (select id from taken) and (select count(*) from counters) >= 0`;

export type FileServices = { database: Database; storage: Storage };

/** Returns the limits of files: UPLOAD_MAX_FILE_MB for each, and 10 for each element (docs/rules.md 13). */
export const fileLimitsOf = ({ limits: { fileBytes } }: Pick<Config, 'limits'>) => ({
  fileBytes,
  filesPerElement: formLimits.files,
});

/**
 * Returns the key of a file in storage. Nothing in it comes from the visitor; the last two digits spread
 * files over directories.
 */
export const storageKey = (workspaceId: string, id: string): string => `${workspaceId}/${id.slice(-2)}/${id}`;

/**
 * Streams a visitor's file into storage. If no submission claims it, the sweep deletes it. The row is written
 * first, so that a crash cannot leave bytes without a row.
 * @throws ApiError payload_too_large, and stores nothing.
 */
export async function receiveFile(
  context: FileServices,
  part: {
    workspaceId: string;
    formId: string;
    element: string;
    filename: string;
    declaredType: string;
    /** The type of a file that the server itself made; it is not detected. */
    knownType?: string | undefined;
    source: AsyncIterable<Buffer>;
    /** The maximum size in bytes. */
    limit: number;
  },
): Promise<FileAnswer> {
  const { workspaceId, formId, element } = part;
  const id = newId();
  const filename = cleanFilename(part.filename);
  await insertUnclaimedFile(context.database, {
    workspace_id: workspaceId,
    id,
    form_id: formId,
    element,
    filename,
    content_type: 'application/octet-stream',
    created_at: now(),
    upload: null,
  });
  try {
    const { size, head } = await context.storage.put(storageKey(workspaceId, id), part.source, part.limit);
    const content_type = part.knownType ?? (await detectType(head, part.declaredType));
    await setFileContent(context.database, { workspace_id: workspaceId, id, size, content_type });
    return { id, filename, size, content_type };
  } catch (error) {
    await discardFiles(context, workspaceId, [id]);
    throw error;
  }
}

/**
 * Deletes files that no submission has claimed. Claimed files stay, so this is safe when the outcome of a
 * submit is unknown. It marks the files, then deletes their bytes, then their rows: a crash at any point
 * leaves a row for the sweep.
 */
export async function discardFiles(
  context: FileServices,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const taken = await markUnclaimedFiles(context.database, { workspace_id: workspaceId, ids: [...ids] });
  await removeMarkedFiles(
    context,
    workspaceId,
    taken.map((file) => file.id),
  );
}

/** Deletes the bytes and rows of marked files. */
export async function removeMarkedFiles(
  context: FileServices,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  const rows = await selectPendingUploads(context.database, { workspace_id: workspaceId, ids: [...ids] });
  const stored = new Map(rows.map(({ id, size, upload }) => [id, { ...upload, size }]));
  for (const id of ids) await context.storage.remove(storageKey(workspaceId, id), stored.get(id));
  await deleteMarkedFileRows(context.database, { workspace_id: workspaceId, ids: [...ids] });
}

/** Detects the type from the bytes. If that fails (text, CSV), a harmless declared type is kept. */
export async function detectType(head: Buffer, declared: string): Promise<string> {
  const recognised = await typeOfBytes(head);
  if (recognised !== undefined) return recognised;
  const type = declared.split(';', 1)[0]!.trim().toLowerCase();
  return /^(text\/(plain|csv|markdown)|application\/(json|rtf))$/.test(type)
    ? type
    : 'application/octet-stream';
}

const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;
/** Joiners and variation selectors: emoji and Persian need them. */
const needed = /\p{Join_Control}|\p{Variation_Selector}/u;

/**
 * Returns the visitor's name for the file as a plain name: no path, no control or invisible characters, at
 * most 200 bytes.
 */
export function cleanFilename(given: string): string {
  const last = normalizeText(given.toWellFormed()).split(/[/\\]/).at(-1) ?? '';
  // Bidi controls can make "exe.gpj" look like "jpg.exe". Other invisible characters make two names look
  // alike.
  const plain = last.replace(hidden, (found) => (needed.test(found) ? found : '')).trim();
  const name = plain === '' || /^\.+$/.test(plain) ? 'file' : plain;
  return shorten(name, 200);
}

/** Shortens the stem, not the extension. */
function shorten(name: string, bytes: number): string {
  const extension = /\.[^.]{1,10}$/.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - extension.length);
  return cutToBytes(stem, bytes - byteLength(extension)) + extension;
}

/**
 * Assigns files to a submission, in its transaction. A file is claimed once, and only by a submission of its
 * form.
 */
export const claimFiles = statement('workspace_id form_id submission_id ids', 'id')`
  update files set submission_id = $submission_id, claimed_at = now()
  where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids) and submission_id is null and claimed_at is null
  returning id`;

/**
 * Finds the files that a page carries between two posts, in upload order. Each is either an unclaimed file of
 * this form or a file of the page's submission. That submission is the one that the page edits, or the one
 * that was saved or sent under its key. A repeated post names files that the first one claimed.
 */
export const findCarriedFiles = statement(
  'workspace_id form_id ids key:uuid? submission_id?',
  'id element filename content_type size',
)`
  select id, element, filename, content_type, size from files
  where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids) and upload is null
    and (submission_id is null and claimed_at is null
      or submission_id = $submission_id
      or submission_id = (select s.id from submissions s where s.workspace_id = $workspace_id and s.key = $key)
      or held_id = (select h.id from held_submissions h where h.workspace_id = $workspace_id and h.key = $key))
  order by id`;

/** Marks files of a workspace that is being deleted, including claimed ones. */
export const markFilesOfWorkspace = statement('workspace_id limit', 'id')`
  update files set submission_id = null, held_id = null, claimed_at = least(claimed_at, now())
  where workspace_id = $workspace_id and id in (select id from files where workspace_id = $workspace_id limit $limit)
  returning id`;

/** Selects fully uploaded files in the order of their key. */
const selectStoredFiles = statement('after_workspace:uuid after limit', 'workspace_id id size')`
  /* sweep: across workspaces */
  select workspace_id, id, size from files
  where (workspace_id, id) > ($after_workspace, $after) and (claimed_at is not null or size > 0)
    -- A backup can be made of a database that does not have the column yet.
    and to_jsonb(files) ->> 'upload' is null
  order by workspace_id, id
  limit $limit`;

const batch = 1_000;
const first = '00000000-0000-0000-0000-000000000000';

/** Lists the fully uploaded files of one or all workspaces, for a backup. */
export async function* listReceivedFiles(
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
      // Rows are ordered by workspace.
      if (ofWorkspace !== undefined && workspace_id !== ofWorkspace) return;
      yield { key: storageKey(workspace_id, id), size };
    }
    if (files.length < batch) return;
    after = files.at(-1)!;
  }
}

/**
 * Marks files that are no longer needed: their submission is gone, or they were not claimed within a day. A
 * slow visitor's page may still refer to a more recent file. Files of the spam box stay. Setting claimed_at
 * prevents a late claim before the bytes are deleted. The outer condition is not redundant: PostgreSQL checks
 * it again if a claim locked the row first.
 */
const markOrphanedFiles = statement('', 'workspace_id id')`
  /* sweep: across workspaces */
  update files set claimed_at = least(claimed_at, now())
  where (workspace_id, id) in (
    select workspace_id, id from files
    where submission_id is null and held_id is null and (claimed_at is not null or created_at < now() - interval '1 day')
    order by created_at limit 500)
    and submission_id is null and held_id is null
  returning workspace_id, id`;

/**
 * Deletes the bytes and rows of files that are no longer needed.
 * @returns how many; a full batch of 500 means that there may be more.
 */
export async function sweepFiles(context: FileServices): Promise<number> {
  const orphans = await markOrphanedFiles(context.database, {});
  const byWorkspace = Map.groupBy(orphans, (file) => file.workspace_id);
  for (const [workspaceId, files] of byWorkspace)
    await removeMarkedFiles(
      context,
      workspaceId,
      files.map((file) => file.id),
    );
  return orphans.length;
}

/** Signed URLs are valid for one hour (specification, "Limits"). */
export const linkSeconds = 3_600;

/**
 * Creates and verifies download URLs: `{publicUrl}/files/<workspace>/<form>/<file>?expires=<unix
 * seconds>&signature=…`.
 */
export type FileLinks = {
  /** @param at when the hour begins; defaults to now. Equal times give equal URLs. */
  sign: (file: LinkTarget, at?: Date) => string;
  /** Returns whether the signature is ours and the hour has not passed. */
  verify(file: LinkTarget, expires: string, signature: string): boolean;
};

export function openFileLinks({
  vault,
  publicUrl,
  now,
}: {
  vault: Vault;
  publicUrl: string;
  now: () => Date;
}): FileLinks {
  return {
    sign(file, at = now()) {
      const { workspaceId, formId, id } = file;
      const expires = String(Math.floor(at.getTime() / 1000) + linkSeconds);
      const signature = signLink(vault, 'file links', file, expires);
      return `${publicUrl}/files/${workspaceId}/${formId}/${id}?expires=${expires}&signature=${signature}`;
    },
    verify: (file, expires, signature) =>
      verifyLink(vault, 'file links', signature, file, expires) &&
      /^\d{1,12}$/.test(expires) &&
      Number(expires) >= now().getTime() / 1000,
  };
}
