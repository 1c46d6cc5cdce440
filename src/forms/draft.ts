import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#ast/basics/json.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import { dropStaleSettings, type Settings } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';
import { type IfMatchTimes } from '#kit/conditional.ts';
import { ApiError } from '#kit/errors.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { json, jsonb, nullable, type Queryable, requireRow, statement } from '#kit/statement.ts';
import { linkDomainSql } from '#workspaces/domains.ts';
import { formColumns, sentStructureColumn, submissionCountSql, withoutPassword } from './form-rows.ts';

/** Finds what the builder opens: the form, its live version and, if there is one, its working copy. */
const findBuilderForm = statement('workspace_id id', [
  'has_password:boolean submission_count version version_created_at:timestamp',
  'version_created_by:text? revision? base_version? saved_at? saved_by?',
  'is_untouched:boolean? domain:text?',
  {
    settings: jsonb<Settings>(),
    structure: sentStructureColumn,
    draft_structure: nullable(json<object>()),
    draft_settings: nullable(jsonb<Settings>()),
  },
  formColumns,
])`
  select f.id, f.workspace_id, f.name, f.description, f.status, f.labels, f.created_at, f.updated_at, f.published_at,
         f.settings, f.password_hash is not null as has_password, ${submissionCountSql} as submission_count,
         ${linkDomainSql('f.workspace_id')} as domain,
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
  where f.workspace_id = $workspace_id and f.id = $id and f.deleted_at is null`;

/**
 * Saves the next revision of the working copy if its revision is one of `revisions` (0: no copy exists yet;
 * null: any revision). Otherwise returns no row. base_version only grows: once a copy is published, later
 * saves are based on that version. Omitted settings are kept.
 */
export const saveDraftRevision = statement(
  [
    'workspace_id form_id revisions:integers? structure:jsonText base_version saved_by? now',
    { settings: nullable(jsonb<Settings>()) },
  ],
  'revision saved_at',
)`
  insert into form_drafts (workspace_id, form_id, structure, settings, revision, base_version, saved_by, saved_at)
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
  returning revision, saved_at`;

/** What the builder edits: the structure and settings of a form. */
type FormDocument = { structure: object; settings: Settings };

/** The working copy. Revision 0: nothing is saved yet, and the document is the live one. */
type WorkingCopy = FormDocument & {
  revision: number;
  /**
   * The live version that the copy is based on. If it differs from the form's version, the live form was
   * changed in the meantime.
   */
  base_version: number;
  saved_at: Date | null;
  saved_by: string | null;
};

export type BuilderForm = Awaited<ReturnType<typeof readBuilderForm>>;

/**
 * Returns a form with its live version and its working copy. If there is no working copy, or it only repeats
 * an older version, the live version is used instead.
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
  // Every version is validated before it is stored.
  const form = { ...found, settings: dropStaleSettings(effectiveForm(found.structure), found.settings) };
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

/** A save. The copy's revision must be one of `revisions`; null allows any revision. */
export type DraftChange = {
  workspaceId: string;
  formId: string;
  revisions: readonly number[] | null;
  structure: object;
  /** If omitted, the settings are kept. A password in them is not stored: it is set separately. */
  settings?: Settings | undefined;
  /** If omitted, the base version is kept. */
  baseVersion?: number | undefined;
  /** Null for a save through the API. */
  userId: string | null;
};

/**
 * Saves the working copy, complete or not, if its revision is one of `revisions`. A repeated save whose first
 * response was lost succeeds.
 * @throws ApiError not_found; validation_error if the structure is not an object or the base version does not
 * exist; precondition_failed, which says who saved in the meantime and when.
 */
export async function saveWorkingCopy(
  database: Queryable,
  change: DraftChange,
): Promise<{ revision: number; saved_at: Date }> {
  if (!isRecord(change.structure)) throw new ApiError('validation_error', 'The structure must be an object.');
  const baseVersion =
    change.baseVersion ??
    (await readBuilderForm(database, change.workspaceId, change.formId)).draft.base_version;
  const [saved] = await saveDraftRevision(database, {
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

/** Saves the first working copy of a newly created form. @throws as saveWorkingCopy. */
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
        {
          field: 'base_version',
          message: `"base_version" must be at most ${form.version}, the newest version of the form.`,
          code: 'too_large',
        },
      ],
    });
  }
  throw changedMeanwhile(draft);
}

/** @throws ApiError precondition_failed if the copy's revision is none of these. */
export function requireRevision(draft: WorkingCopy, revisions: DraftChange['revisions']): void {
  if (revisions && !revisions.includes(draft.revision)) throw changedMeanwhile(draft);
}

/** Returns the error for a save or publication that is based on an outdated revision. */
function changedMeanwhile({ saved_by, saved_at }: WorkingCopy): ApiError {
  const who = saved_by ?? 'Another person';
  const when = saved_at ? ` at ${saved_at.toISOString()}` : '';
  return new ApiError('precondition_failed', `${who} saved this form${when}, after you opened it.`);
}

/**
 * Returns the ETag of a working copy, with the revision plus 1 in place of a timestamp. An unknown tag is
 * read as 0, so it matches no revision.
 */
export const draftEtagOf = (revision: number, seen?: string): string =>
  formatEtag(new Date(revision + 1), seen);

/** Returns the revisions that If-Match names, or null if the header is missing. */
export const revisionsIn = (unchanged: IfMatchTimes): number[] | null =>
  unchanged && unchanged.map((moment) => moment.getTime() - 1);
