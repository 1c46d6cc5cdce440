import { createWorkBudget, type WorkBudget } from '#ast/basics/work.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import { imagesIn } from '#ast/form/form-images.ts';
import type { Form } from '#ast/form/tree.ts';
import type { EvaluationContext } from '#ast/logic/evaluate.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Settings } from '#ast/settings.ts';
import type { ImageSize } from '#ast/theme/theme.ts';
import { now } from '#kit/clock.ts';
import { coalesceCalls } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { json, jsonb, onlyRow, statement, textEnum } from '#kit/statement.ts';
import { linkDomainSql } from '#workspaces/domains.ts';
import { type FormStatus, sentStructureColumn } from './form-rows.ts';
import { findImageDimensions, imagesOfSettings } from './images/images.ts';

export const formStatuses = ['draft', 'published', 'archived'] as const satisfies FormStatus[];

/**
 * Deletes a form's row, and with it its versions, webhooks, events and counts, as the last step of a removal.
 */
export const deleteFormRow = statement('workspace_id id', 'id')`
  delete from forms where workspace_id = $workspace_id and id = $id and deleted_at is not null returning id`;

/** A feed that has not been read for this long is off and records nothing. */
export const feedLifetimeSql = "interval '30 days'";

/** SQL condition: the feed in `feeds` is on. */
export const isFeedOnSql = `feeds.read_at > now() - ${feedLifetimeSql}`;

/**
 * Finds what a visitor's request needs to know about a form, by its id alone. The structure is read once per
 * version.
 */
const findLiveForm = statement('id', [
  'workspace_id name version published_at? password_hash? has_listeners:boolean domain:text?',
  { status: textEnum<FormStatus>(), settings: jsonb<Settings>() },
])`
  select f.workspace_id, f.name, f.status, f.settings, f.version, f.published_at, f.password_hash,
         ${linkDomainSql('f.workspace_id')} as domain,
         exists (select from webhooks w where w.workspace_id = f.workspace_id and (w.form_id = f.id or w.form_id is null))
           or exists (select from feeds where feeds.workspace_id = f.workspace_id and ${isFeedOnSql}) as has_listeners
  from form_lookup l join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
  where l.form_id = $id and f.deleted_at is null`;

export const findFormVersion = statement('workspace_id form_id version', {
  structure: sentStructureColumn,
  fields: json<object>(),
})`
  select structure, fields from form_versions
  where workspace_id = $workspace_id and form_id = $form_id and version = $version`;

/** A form for a visitor's request: its live version. */
export type LiveForm = {
  workspaceId: string;
  id: string;
  name: string;
  status: FormStatus;
  wasPublished: boolean;
  settings: Settings;
  version: number;
  /** Whether its submissions have listeners: the form has a webhook, or the workspace reads its feed. */
  hasListeners: boolean;
  /** The hash of the password that settings.access may require; null if no password is set. */
  passwordHash: string | null;
  /** The workspace's domain, which public links use; null: the host of the service. */
  domain: string | null;
  form: Form;
  /** The form as its author wrote it, if `form` is in one language or lacks the right answers of a quiz. */
  written?: Form;
  fields: Readonly<Record<string, FieldDescription>>;
  /** The sizes of the images of its theme and its elements, by id. */
  pictures: ReadonlyMap<string, ImageSize>;
};

/** Finds forms by id alone, because the URL of a public page has only the id. */
export type LiveForms = { find(formId: string): Promise<LiveForm | undefined> };

type Version = Pick<LiveForm, 'form' | 'fields'> & {
  /** The ids of the images of its elements. */
  images: readonly string[];
};

/** The number of parsed structures in the cache. One is at most 1 MB, and typically a few KB. */
const keptVersions = 200;
/** The number of images whose sizes are cached: a few numbers each. */
const keptPictures = 2_000;

/**
 * Status and settings are read for each request, by a query that begins after the request. Concurrent
 * requests for one form share the query, regardless of other forms and cells. The structure is read once per
 * version, because versions never change. It was validated when it was stored, so it is trusted here.
 */
export function openLiveForms(database: Database): LiveForms {
  const versions = new Map<string, Version>();

  const loadVersion = async (
    workspaceId: string,
    formId: string,
    version: number,
  ): Promise<Version | undefined> => {
    const key = `${formId}:${version}`;
    const known = versions.get(key);
    if (known) return known;
    const [row] = await findFormVersion(database, { workspace_id: workspaceId, form_id: formId, version });
    if (!row) return undefined;
    const form = effectiveForm(row.structure);
    const images = imagesIn(form).map(({ id }) => id);
    const loaded: Version = { form, fields: row.fields as Version['fields'], images };
    if (versions.size >= keptVersions) versions.delete(versions.keys().next().value!);
    versions.set(key, loaded);
    return loaded;
  };

  const pictures = new Map<string, ImageSize | undefined>();

  /** An image never changes, so its size is read once. */
  const sizesOf = async (
    workspaceId: string,
    settings: Settings,
    images: readonly string[],
  ): Promise<LiveForm['pictures']> => {
    const ids = [...imagesOfSettings(settings).map(([, id]) => id), ...images];
    const unknown = ids.filter((id) => !pictures.has(id));
    if (unknown.length > 0) {
      const found = await findImageDimensions(database, workspaceId, unknown);
      for (const id of unknown) {
        if (pictures.size >= keptPictures) pictures.delete(pictures.keys().next().value!);
        pictures.set(id, found.get(id));
      }
    }
    return new Map(
      ids.flatMap((id) => {
        const size = pictures.get(id);
        return size ? [[id, size] as const] : [];
      }),
    );
  };

  const findRow = coalesceCalls(async (id: string) => onlyRow(await findLiveForm(database, { id })), {
    atOnce: 2,
  });

  return {
    async find(formId) {
      const row = await findRow(formId);
      const version = row && (await loadVersion(row.workspace_id, formId, row.version));
      if (!row || !version) return undefined;
      return {
        workspaceId: row.workspace_id,
        id: formId,
        name: row.name,
        status: row.status,
        wasPublished: row.published_at !== null,
        settings: row.settings,
        version: row.version,
        hasListeners: row.has_listeners,
        passwordHash: row.password_hash,
        domain: row.domain,
        pictures: await sizesOf(row.workspace_id, row.settings, version.images),
        form: version.form,
        fields: version.fields,
      };
    },
  };
}

/**
 * Returns why a form accepts no submissions, by its status and times, or undefined if it accepts them. A form
 * that was never published counts as absent (docs/rules.md 5).
 */
export function findClosure(live: LiveForm | undefined): 'absent' | 'closed' | 'early' | undefined {
  if (!live || (live.status === 'draft' && !live.wasPublished)) return 'absent';
  const { access, opens_at, closes_at } = live.settings;
  if (live.status !== 'published' || access === 'closed') return 'closed';
  const at = now();
  if (opens_at && at < new Date(opens_at)) return 'early';
  return closes_at && at >= new Date(closes_at) ? 'closed' : undefined;
}

/** The error for each reason. Visitors see the author's message instead if there is one. */
export const closureErrors = {
  absent: ['not_found', 'There is no form at this address.'],
  closed: ['gone', 'This form is closed. It no longer accepts submissions.'],
  early: ['forbidden', 'This form is not open yet.'],
} as const;

/**
 * Returns what a form's rules and conditions use besides the answers: the reference data, and the day in the
 * form's time zone.
 * @param work the remaining work of the request, if some of it was used before.
 */
export const createEvaluationContext = (
  settings: Settings,
  reference: Readonly<Record<string, string>>,
  work: WorkBudget = createWorkBudget(),
): EvaluationContext => ({
  reference,
  today: todayIn(settings.time_zone ?? 'UTC', now()),
  work,
  asksSingly: settings.layout === 'question',
});
