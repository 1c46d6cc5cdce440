import { effectiveForm } from '#ast/effective-form.ts';
import type { FieldDescription } from '#ast/describe.ts';
import { imagesIn } from '#ast/form-images.ts';
import type { Settings } from '#ast/settings.ts';
import type { PictureSize } from '#ast/theme/theme.ts';
import type { Form } from '#ast/tree.ts';
import type { Database } from '#kit/database.ts';
import { share } from '#kit/share.ts';
import { only } from '#kit/statement.ts';
import { findPictureSizes, imagesOf } from './images/images.ts';
import { findFormVersion, findLiveForm, type FormStatus } from './queries.ts';

/** A form as a visitor's request sees it: its live version. */
export type LiveForm = {
  workspaceId: string;
  id: string;
  name: string;
  status: FormStatus;
  wasPublished: boolean;
  settings: Settings;
  version: number;
  /** Whether anybody may hear of its submissions: it has a webhook, or the workspace reads its feed. */
  hasListeners: boolean;
  /** Of the password that settings.access may ask for; null while none is set. */
  passwordHash: string | null;
  form: Form;
  /** In all its languages, where `form` is in one of several. */
  written?: Form;
  fields: Readonly<Record<string, FieldDescription>>;
  /** The sizes of the pictures of its theme and its elements, by id. */
  pictures: ReadonlyMap<string, PictureSize>;
};

/** Finds forms by their id alone, as the public page is asked for them. */
export type LiveForms = { find(formId: string): Promise<LiveForm | undefined> };

type Version = Pick<LiveForm, 'form' | 'fields'> & {
  /** The ids of the pictures of its elements. */
  images: readonly string[];
};

/** Parsed structures that are kept; one is at most 1 MB, and typically a few KB. */
const keptVersions = 200;
/** Pictures whose sizes are kept: a few numbers each. */
const keptPictures = 2_000;

/**
 * Status and settings are read each time, by a query that begins after it was asked for: requests for one form that come
 * together share it, whatever other forms and cells are asked. The structure is read once per version, since versions never change.
 * A structure was validated when it was stored, so it is trusted here.
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

  const pictures = new Map<string, PictureSize | undefined>();

  /** A picture never changes, so its size is read once. */
  const sizesOf = async (
    workspaceId: string,
    settings: Settings,
    images: readonly string[],
  ): Promise<LiveForm['pictures']> => {
    const ids = [...imagesOf(settings).map(([, id]) => id), ...images];
    const unknown = ids.filter((id) => !pictures.has(id));
    if (unknown.length > 0) {
      const found = await findPictureSizes(database, workspaceId, unknown);
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

  const findRow = share(async (id: string) => only(await findLiveForm(database, { id })), { atOnce: 2 });

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
        pictures: await sizesOf(row.workspace_id, row.settings, version.images),
        form: version.form,
        fields: version.fields,
      };
    },
  };
}
