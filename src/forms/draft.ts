import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#ast/basics/json.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import { type Settings, settingsFor } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';
import type { Unchanged } from '#kit/conditional.ts';
import { ApiError } from '#kit/errors.ts';
import { tagOf } from '#kit/replies/tag-of.ts';
import { json, jsonb, nullable, type Queryable, requireRow, statement } from '#kit/statement.ts';
import { formColumns, sentStructure, submissionCount, withoutPassword } from './form-rows.ts';

/** What the builder opens: the form, its live version, and its working copy when it has one. */
const findBuilderForm = statement(
  'find_builder_form',
  'workspace_id id',
  [
    'has_password:boolean submission_count version version_created_at:timestamp',
    'version_created_by:text? revision? base_version? saved_at? saved_by?',
    'is_untouched:boolean?',
    {
      settings: jsonb<Settings>(),
      structure: sentStructure,
      draft_structure: nullable(json<object>()),
      draft_settings: nullable(jsonb<Settings>()),
    },
    formColumns,
  ],
  `select f.id, f.workspace_id, f.name, f.description, f.status, f.created_at, f.updated_at, f.published_at,
          f.settings, f.password_hash is not null as has_password, ${submissionCount} as submission_count,
          f.version, v.structure, v.created_at as version_created_at, author.name as version_created_by,
          d.revision, d.structure as draft_structure, d.settings as draft_settings, d.base_version, d.saved_at,
          saver.name as saved_by,
          d.structure::text = base.structure::text and d.settings = coalesce(base.settings, d.settings) as is_untouched
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
   left join users author on author.id = v.created_by
   left join form_drafts d on d.workspace_id = f.workspace_id and d.form_id = f.id
   left join form_versions base on base.workspace_id = f.workspace_id and base.form_id = f.id and base.version = d.base_version
   left join users saver on saver.id = d.saved_by
   where f.workspace_id = $workspace_id and f.id = $id and f.deleted_at is null`,
);

/**
 * The next revision of the working copy, when it still is at one of `revisions` (0: there is none yet; null: whatever it
 * is at); no row otherwise.
 * base_version only grows: a copy that was published rests on that version whoever saves it next. Settings that are
 * not sent stay.
 */
export const saveDraft = statement(
  'save_draft',
  [
    'workspace_id form_id revisions:integers? structure:jsonText base_version saved_by? now',
    { settings: nullable(jsonb<Settings>()) },
  ],
  'revision saved_at',
  `insert into form_drafts (workspace_id, form_id, structure, settings, revision, base_version, saved_by, saved_at)
   select f.workspace_id, f.id, $structure, coalesce($settings, f.settings), 1, $base_version, $saved_by, $now
   from forms f
   where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null and $base_version <= f.version
     and ($revisions is null or 0 = any ($revisions) or exists (
       select from form_drafts d where d.workspace_id = f.workspace_id and d.form_id = f.id))
   on conflict (workspace_id, form_id) do update set
     structure = excluded.structure, settings = coalesce($settings, form_drafts.settings),
     revision = form_drafts.revision + 1,
     base_version = greatest(form_drafts.base_version, excluded.base_version),
     saved_by = excluded.saved_by, saved_at = excluded.saved_at
   where $revisions is null or form_drafts.revision = any ($revisions)
   returning revision, saved_at`,
);

/** What the builder edits: the form, and how it behaves. */
type FormDocument = { structure: object; settings: Settings };

/** The working copy. Revision 0: nothing was saved yet, and the document is the live one. */
type WorkingCopy = FormDocument & {
  revision: number;
  /** The live version that the copy rests on; when the form's is another, live was changed beside it. */
  base_version: number;
  saved_at: Date | null;
  saved_by: string | null;
};

export type BuilderForm = Awaited<ReturnType<typeof readBuilderForm>>;

/**
 * A form with its live version and its working copy. A form that was never edited in the builder, or whose copy
 * holds nothing but an older live version, is edited from its live version.
 * @throws ApiError not_found.
 */
export async function readBuilderForm(db: Queryable, workspaceId: string, id: string) {
  const row = requireRow(await findBuilderForm(db, { workspace_id: workspaceId, id }));
  const {
    revision,
    draft_structure,
    draft_settings,
    base_version,
    saved_at,
    saved_by,
    is_untouched,
    ...found
  } = row;
  // The live structure was validated when it became that.
  const form = { ...found, settings: settingsFor(effectiveForm(found.structure), found.settings) };
  const isOwn = draft_structure !== null && (!is_untouched || base_version === form.version);
  const draft: WorkingCopy = {
    revision: revision ?? 0,
    structure: isOwn ? draft_structure : form.structure,
    settings: isOwn ? draft_settings! : form.settings,
    base_version: isOwn ? base_version! : form.version,
    saved_at,
    saved_by,
  };
  return { form, draft };
}

/** One save. `revisions` are those of which one must still be the copy's; null: whatever it is at. */
export type DraftChange = {
  workspaceId: string;
  formId: string;
  revisions: readonly number[] | null;
  structure: object;
  /** Left out, they stay. A password among them is not kept: it is set on its own. */
  settings?: Settings | undefined;
  /** Left out, it stays. */
  baseVersion?: number | undefined;
  /** Null: it came over the API. */
  userId: string | null;
};

/**
 * Saves the working copy, complete or not, when it still is at one of `revisions`. A save that is repeated, because its
 * answer was lost, succeeds again.
 * @throws ApiError not_found; validation_error for what is no form or rests on a version that does not exist;
 *   precondition_failed, naming who saved meanwhile and when.
 */
export async function saveWorkingCopy(
  database: Queryable,
  change: DraftChange,
): Promise<{ revision: number; saved_at: Date }> {
  if (!isRecord(change.structure)) throw new ApiError('validation_error', 'The structure must be an object.');
  const baseVersion =
    change.baseVersion ??
    (await readBuilderForm(database, change.workspaceId, change.formId)).draft.base_version;
  const [saved] = await saveDraft(database, {
    workspace_id: change.workspaceId,
    form_id: change.formId,
    revisions: change.revisions && [...change.revisions],
    structure: JSON.stringify(change.structure),
    settings: change.settings ? withoutPassword(change.settings) : null,
    base_version: baseVersion,
    saved_by: change.userId,
    now: now(),
  });
  return saved ?? refuseOrRepeat(database, { ...change, baseVersion });
}

/** The first working copy of a form that was made a moment ago. @throws as saveWorkingCopy. */
export const saveFirstCopy = (
  client: Queryable,
  copy: Pick<DraftChange, 'workspaceId' | 'formId' | 'structure' | 'settings' | 'userId'>,
): Promise<unknown> => saveWorkingCopy(client, { ...copy, revisions: [0], baseVersion: 1 });

async function refuseOrRepeat(
  database: Queryable,
  change: DraftChange & { baseVersion: number },
): Promise<{ revision: number; saved_at: Date }> {
  const { form, draft } = await readBuilderForm(database, change.workspaceId, change.formId);
  const isRepeated =
    change.revisions?.includes(draft.revision - 1) &&
    JSON.stringify(draft.structure) === JSON.stringify(change.structure) &&
    (!change.settings || isDeepStrictEqual(draft.settings, withoutPassword(change.settings)));
  if (isRepeated && draft.saved_at) return { revision: draft.revision, saved_at: draft.saved_at };
  if (change.baseVersion > form.version) {
    throw new ApiError('validation_error', undefined, {
      errors: [
        { field: 'base_version', message: `The form has ${form.version} versions.`, code: 'too_large' },
      ],
    });
  }
  throw changedMeanwhile(draft);
}

/** @throws ApiError precondition_failed, when the copy is at none of these revisions. */
export function requireRevision(draft: WorkingCopy, revisions: DraftChange['revisions']): void {
  if (revisions && !revisions.includes(draft.revision)) throw changedMeanwhile(draft);
}

/** What a save or a publication on an old revision is refused with. */
function changedMeanwhile({ saved_by, saved_at }: WorkingCopy): ApiError {
  const who = saved_by ?? 'Somebody else';
  const when = saved_at ? ` at ${saved_at.toISOString()}` : '';
  return new ApiError('precondition_failed', `${who} saved this form${when}, after you opened it.`);
}

/**
 * The ETag of a working copy: its revision in place of a moment, one more, so that a tag that is none of ours (which
 * stands for 0) is that of no revision.
 */
export const draftTag = (revision: number, seen?: string): string => tagOf(new Date(revision + 1), seen);

/** The revisions that If-Match names; null: the caller does not say. */
export const revisionsIn = (unchanged: Unchanged): number[] | null =>
  unchanged && unchanged.map((moment) => moment.getTime() - 1);
