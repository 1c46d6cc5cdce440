import type { Readable } from 'node:stream';
import type { FileAnswer } from '#ast/answers/check-answers.ts';
import { limits } from '#ast/basics/limits.ts';
import { byteLength, cutToBytes, normalizeText } from '#ast/basics/text.ts';
import { newId, now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import type { Storage } from '#kit/storage.ts';
import { typeOfBytes } from '#kit/type-of-bytes.ts';
import { type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';

/** A file that is being received: nobody's until a submission claims it. */
export const insertUnclaimedFile = statement(
  'insert_unclaimed_file',
  'workspace_id id form_id element filename created_at',
  '',
  `insert into files (workspace_id, id, form_id, element, filename, content_type, size, created_at)
   values ($workspace_id, $id, $form_id, $element, $filename, 'application/octet-stream', 0, $created_at)`,
);

/** What receiving found out: its true size and type. */
export const setFileContent = statement(
  'set_file_content',
  'workspace_id id size content_type',
  '',
  `update files set size = $size, content_type = $content_type where workspace_id = $workspace_id and id = $id`,
);

/** Takes hold of files that a submission did not claim: from here on no late claim can have them. */
const takeUnclaimedFiles = statement(
  'take_unclaimed_files',
  'workspace_id ids',
  'id',
  `update files set claimed_at = now()
   where workspace_id = $workspace_id and id = any ($ids) and submission_id is null and claimed_at is null
   returning id`,
);

/**
 * The last step, after the bytes are gone. The files are held first, then the counters of their forms (stored_bytes), each in
 * their order: triggers of each row write these, and of two that delete files of several forms in another order each would
 * wait for the other. All else that changes a counter is about one file (setFileContent), or files of no size.
 */
export const deleteTakenFiles = statement(
  'delete_taken_files',
  'workspace_id ids',
  '',
  `with taken as materialized (
     select id, form_id from files
      where workspace_id = $workspace_id and id = any ($ids)
        and submission_id is null and held_id is null and claimed_at is not null
      order by id for update),
   counters as materialized (
     select form_id from stored_bytes
      where workspace_id = $workspace_id and form_id = any (array(select form_id from taken))
      order by form_id for update)
   delete from files
    where workspace_id = $workspace_id and id in (select id from taken) and (select count(*) from counters) >= 0`,
);

/** What the room needs. */
export type FilesContext = { database: Database; storage: Storage };

/** docs/rules.md 13: 10 MB each, 10 for each element. */
export const fileLimits = { fileBytes: limits.fileBytes, filesPerElement: limits.files } as const;

/** Where the bytes of a file lie. Nothing of it comes from the visitor; the last two digits spread directories. */
export const storageKey = (workspaceId: string, id: string): string => `${workspaceId}/${id.slice(-2)}/${id}`;

/**
 * Streams a visitor's file into storage. It belongs to nobody until a submission claims it; if none does, the sweep
 * removes it. The row is written first, so that bytes without a row cannot be left behind by a crash.
 * @throws ApiError payload_too_large; nothing is kept then.
 */
export async function receiveFile(
  context: FilesContext,
  part: {
    workspaceId: string;
    formId: string;
    element: string;
    filename: string;
    declaredType: string;
    /** Of a file that is made here, whose type need not be recognised. */
    knownType?: string | undefined;
    source: Readable;
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
    created_at: now(),
  });
  try {
    const { size, head } = await context.storage.put(
      storageKey(workspaceId, id),
      part.source,
      fileLimits.fileBytes,
    );
    const content_type = part.knownType ?? (await recogniseType(head, part.declaredType));
    await setFileContent(context.database, { workspace_id: workspaceId, id, size, content_type });
    return { id, filename, size, content_type };
  } catch (error) {
    await discardFiles(context, workspaceId, [id]);
    throw error;
  }
}

/**
 * Removes files that no submission has claimed; claimed ones are left alone, so this is safe when the outcome of a
 * submit is not known. Take hold, then the bytes, then the row: a crash anywhere leaves a row for the sweep.
 */
export async function discardFiles(
  context: FilesContext,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const taken = await takeUnclaimedFiles(context.database, { workspace_id: workspaceId, ids: [...ids] });
  await removeTakenFiles(
    context,
    workspaceId,
    taken.map((file) => file.id),
  );
}

/** Removes bytes and rows of files that were taken hold of. */
export async function removeTakenFiles(
  context: FilesContext,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) await context.storage.remove(storageKey(workspaceId, id));
  await deleteTakenFiles(context.database, { workspace_id: workspaceId, ids: [...ids] });
}

/** A type is believed when the bytes show it; what they cannot show (text, CSV) keeps a harmless declared type. */
async function recogniseType(head: Buffer, declared: string): Promise<string> {
  const recognised = await typeOfBytes(head);
  if (recognised !== undefined) return recognised;
  const type = declared.split(';', 1)[0]!.trim().toLowerCase();
  return /^(text\/(plain|csv|markdown)|application\/(json|rtf))$/.test(type)
    ? type
    : 'application/octet-stream';
}

const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;
/** Joiners and variation selectors: emoji and Persian are written with them. */
const needed = /\p{Join_Control}|\p{Variation_Selector}/u;

/** The visitor's name for the file as a plain name: no path, no control or invisible characters, at most 200 bytes. */
export function cleanFilename(given: string): string {
  const last = normalizeText(given.toWellFormed()).split(/[/\\]/).at(-1) ?? '';
  // Bidi controls can make "exe.gpj" look like "jpg.exe"; other invisible characters make two names look the same.
  const plain = last.replace(hidden, (found) => (needed.test(found) ? found : '')).trim();
  const name = plain === '' || /^\.+$/.test(plain) ? 'file' : plain;
  return shorten(name, 200);
}

/** Cuts the stem, not the extension. */
function shorten(name: string, bytes: number): string {
  const extension = /\.[^.]{1,10}$/.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - extension.length);
  return cutToBytes(stem, bytes - byteLength(extension)) + extension;
}

/** Gives files to a submission, in its transaction. A file is claimed once, and only by a submission of its form. */
export const claimFiles = statement(
  'claim_files',
  'workspace_id form_id submission_id ids',
  'id',
  `update files set submission_id = $submission_id, claimed_at = now()
   where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids) and submission_id is null and claimed_at is null
   returning id`,
);

/**
 * Files that a page holds between two posts: received for this form, and still nobody's, or kept with the answers that
 * the page goes on with: those saved or sent under its key (a post that comes twice names files that the first one
 * claimed), or the submission that it edits. In the order they came.
 */
export const findHeldFiles = statement(
  'find_held_files',
  'workspace_id form_id ids key:uuid? submission_id?',
  'id element filename content_type size',
  `select id, element, filename, content_type, size from files
   where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids)
     and (submission_id is null and claimed_at is null
       or submission_id = $submission_id
       or submission_id = (select s.id from submissions s where s.workspace_id = $workspace_id and s.key = $key)
       or held_id = (select h.id from held_submissions h where h.workspace_id = $workspace_id and h.key = $key))
   order by id`,
);

/** Takes hold of files of a workspace that is deleted, whoever's they are. */
export const takeFilesOfWorkspace = statement(
  'take_files_of_workspace',
  'workspace_id limit',
  'id',
  `update files set submission_id = null, held_id = null, claimed_at = least(claimed_at, now())
   where workspace_id = $workspace_id and id in (select id from files where workspace_id = $workspace_id limit $limit)
   returning id`,
);

/** Files that were received whole, in the order of their key. */
const selectStoredFiles = statement(
  'select_stored_files',
  'after_workspace:uuid after limit',
  'workspace_id id size',
  `/* sweep: across workspaces */
   select workspace_id, id, size from files
   where (workspace_id, id) > ($after_workspace, $after) and (claimed_at is not null or size > 0)
   order by workspace_id, id
   limit $limit`,
);

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

/**
 * Takes hold of files that nobody will come for: their submission is gone, or they were never claimed within a day, in
 * which a slow visitor's page still names them, nor are they kept in the spam box. Setting claimed_at closes the door to
 * a late claim before the bytes go. The outer condition is not a repetition: it is what PostgreSQL looks at again when a
 * claim got hold of the row first.
 */
const takeOrphanedFiles = statement(
  'take_orphaned_files',
  '',
  'workspace_id id',
  `/* sweep: across workspaces */
   update files set claimed_at = least(claimed_at, now())
   where (workspace_id, id) in (
     select workspace_id, id from files
     where submission_id is null and held_id is null and (claimed_at is not null or created_at < now() - interval '1 day')
     order by created_at limit 500)
     and submission_id is null and held_id is null
   returning workspace_id, id`,
);

/**
 * Removes files that nobody will come for, bytes and rows.
 * @returns how many; a full batch of 500 means that there may be more.
 */
export async function sweepFiles(context: FilesContext): Promise<number> {
  const orphans = await takeOrphanedFiles(context.database, {});
  const byWorkspace = Map.groupBy(orphans, (file) => file.workspace_id);
  for (const [workspaceId, files] of byWorkspace) {
    await removeTakenFiles(
      context,
      workspaceId,
      files.map((file) => file.id),
    );
  }
  return orphans.length;
}

/** Signed addresses live for one hour (specification, "Limits"). */
export const linkSeconds = 3_600;

/** Makes and checks download addresses: `{publicUrl}/files/<workspace>/<form>/<file>?expires=<unix seconds>&signature=…`. */
export type FileLinks = {
  /** @param at when its hour begins; now, when left out. The same moment gives the same address. */
  sign: (file: LinkTarget, at?: Date) => string;
  /** Whether the signature is ours and its hour is not over. */
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
