import { getProperty, isRecord } from '#ast/basics/json.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { cutToBytes } from '#ast/basics/text.ts';
import type { FormNode } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { runInThread } from '#kit/threads/run-in-thread.ts';
import { type DraftChange, readBuilderForm, saveFirstCopy } from './draft.ts';
import { createForm } from './forms.ts';
import { findMissingImages } from './images/images.ts';
import {
  type convertFormText,
  convertForRequest,
  detectFormSource,
  documentSources,
  type FormSource,
  type ReportedForm,
  textSources,
} from './import/convert.ts';
import { judgeForm } from './judge-form.ts';

/** A form to import, complete or not, and the user who imports it. */
type Import = { workspaceId: string; structure: object; settings: Settings; userId: string | null };

/**
 * Creates a draft from an exported form. An incomplete form becomes the working copy of an empty one. Images
 * that this workspace does not have are left out and returned by name.
 */
export async function importForm(database: Database, { workspaceId, structure, settings, userId }: Import) {
  const missing = (await findMissingImages(database, workspaceId, { settings })).map(({ field }) => field!);
  const kept = withoutSlug(withoutImages(settings, missing));
  const document = { structure, settings: kept };
  const { problems } = await judgeForm(database, { workspaceId }, document);
  if (problems.length === 0)
    return {
      row: await createForm(database, workspaceId, { ...document, changedBy: userId }),
      structure,
      missing,
    };
  return transaction(database, async (client) => {
    const empty = emptyForm(structure);
    const row = await createForm(client, workspaceId, { structure: empty, changedBy: userId });
    await saveFirstCopy(client, { ...document, workspaceId, formId: row.id, userId });
    return { row, structure: empty, missing };
  });
}

/** Returns the settings without the theme's missing images (`theme.logo`). */
export function withoutImages(settings: Settings, missing: readonly string[]): Settings {
  if (missing.length === 0 || !settings.theme) return settings;
  const theme = Object.entries(settings.theme).filter(([key]) => !missing.includes(`theme.${key}`));
  return { ...settings, theme: Object.fromEntries(theme) };
}

/** Returns the settings without the short address, which only one form can have. */
export function withoutSlug(settings: Settings): Settings {
  const { slug: _, ...others } = settings;
  return others;
}

/** Returns a form with one empty step. It has the name of the incomplete form if that is valid. */
function emptyForm(structure: object): object {
  const attrs = getProperty(structure as Record<string, unknown>, 'attrs');
  const called = (name: unknown) => ({
    type: 'form',
    attrs: { name },
    children: [{ type: 'step', attrs: {}, children: [] }],
  });
  const named = called(isRecord(attrs) ? getProperty(attrs, 'name') : undefined);
  return validateStructure(named).ok ? named : called('Untitled form');
}

/** Large enough for a form with about a thousand questions. */
export const maxDocumentBytes = 4 * 1024 * 1024;

/** A form of up to this many characters is converted in a few ms; starting a thread takes longer. */
const shortForm = 20_000;

/** Converting the largest document takes half a second. */
const threadLimits = {
  megabytes: 256,
  ms: 20_000,
  tooMuch: 'Reading the document takes too much time or memory. Split the form into smaller ones.',
} as const;

/** The document of another service, or a form as text. */
type Given = {
  document?: Readonly<Record<string, unknown>> | undefined;
  text?: string | undefined;
  source?: FormSource | undefined;
};

/**
 * Converts a document of another service, or a form as text. A long one is converted on a thread.
 * @throws ApiError validation_error if the service is unknown, or the form takes too much work.
 */
export async function convertDocument(
  workspaceId: string,
  { document, text, source }: Given,
): Promise<ReportedForm> {
  if ((document === undefined) === (text === undefined))
    throw refuse('document', 'Send either "document" or "text".', 'not_allowed');
  const field = document ? 'document' : 'text';
  const sources: readonly FormSource[] = document ? documentSources : textSources;
  if (source !== undefined && !sources.includes(source))
    throw refuse('source', `The source of a ${field} is one of ${sources.join(', ')}.`);
  const found = source ?? (document && detectFormSource(document));
  if (document && !found)
    throw refuse(
      field,
      `The document is not from a supported service. Supported services: ${sources.join(', ')}.`,
    );
  // A document is sent as text, because copying its values to the thread takes longer than writing and parsing it.
  const given = [text ?? JSON.stringify(document), found] as const satisfies Parameters<
    typeof convertFormText
  >;
  const converted =
    given[0].length <= shortForm
      ? convertForRequest(...given)
      : await runInThread<ReportedForm | string>(
          workspaceId,
          { module: new URL('import/convert.ts', import.meta.url), name: 'convertFormText', given },
          threadLimits,
        );
  if (typeof converted === 'string') throw refuse(field, converted);
  return converted;
}

const refuse = (field: string, message: string, code?: 'not_allowed'): ApiError =>
  new ApiError('validation_error', undefined, { errors: [{ field, message, ...(code && { code }) }] });

/** A working copy that becomes a new form, and the user who requests it. */
type CopyRequest = Pick<DraftChange, 'workspaceId' | 'formId' | 'structure' | 'settings' | 'userId'>;

/**
 * Creates a draft form with the given working copy, complete or not. This lets an editor keep changes that
 * conflict with another editor's. The first version is the live version of the original form.
 * @throws ApiError not_found, validation_error.
 */
export async function copyAsNewForm(database: Database, request: CopyRequest): Promise<{ id: string }> {
  const { workspaceId, formId, ...copy } = request;
  return transaction(database, async (client) => {
    const { form } = await readBuilderForm(client, workspaceId, formId);
    const { id } = await createForm(client, workspaceId, {
      structure: form.structure,
      settings: withoutSlug(form.settings),
      labels: form.labels,
      changedBy: copy.userId,
    });
    const settings = copy.settings && withoutSlug(copy.settings);
    await saveFirstCopy(client, { ...copy, settings, workspaceId, formId: id });
    return { id };
  });
}

const suffix = ' (copy)';

/**
 * Copies a form as a draft: its live version and its working copy, with their settings, both named with "(copy)" at the end.
 * Submissions and webhooks stay with the original.
 * @throws ApiError not_found.
 */
export async function duplicateForm(
  database: Database,
  { workspaceId, formId, userId }: { workspaceId: string; formId: string; userId: string | null },
): Promise<{ id: string }> {
  return transaction(database, async (client) => {
    const { form, draft } = await readBuilderForm(client, workspaceId, formId);
    const { id } = await createForm(client, workspaceId, {
      structure: renamed(form.structure),
      settings: withoutSlug(form.settings),
      labels: form.labels,
      changedBy: userId,
    });
    if (draft.revision > 0) {
      await saveFirstCopy(client, {
        workspaceId,
        formId: id,
        structure: renamed(draft.structure),
        settings: withoutSlug(draft.settings),
        userId,
      });
    }
    return { id };
  });
}

/** Adds the suffix to the name. A working copy may have no name. */
function renamed(structure: object): object {
  const { attrs, ...rest } = structure as FormNode;
  const name = attrs?.['name'];
  if (typeof name !== 'string') return structure;
  return {
    ...rest,
    attrs: { ...attrs, name: `${cutToBytes(name, formLimits.labelBytes - suffix.length)}${suffix}` },
  };
}
