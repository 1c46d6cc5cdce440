import type { Settings } from '#ast/settings.ts';
import { saveWorkingCopy } from '#forms/draft.ts';
import { changeForm, createForm } from '#forms/forms.ts';
import { findMissingImages, type ImageServices, storeImage } from '#forms/images/images.ts';
import { normalizeLabels } from '#forms/labels.ts';
import { withoutImages, withoutSlug } from '#forms/new-forms.ts';
import { requireAllowedSettings } from '#forms/settings.ts';
import { newId } from '#kit/clock.ts';
import { iterateWithYields } from '#kit/concurrency.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { RequestScope } from '#kit/operation.ts';
import type { Queryable } from '#kit/statement.ts';
import { runInThread } from '#kit/threads/run-in-thread.ts';
import { eventProblems, urlProblems } from '#webhooks/webhook-problems.ts';
import { type CreateWebhookServices, createWebhookInTransaction } from '#webhooks/webhooks.ts';
import { personIdOf } from '#workspaces/authenticate.ts';
import type { PackageManifest, PackageVersion } from './package-file.ts';
import type { PackageText, readPackage } from './read-package.ts';

/** Matches every id in a JSON text. */
export const anyUuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/**
 * Replaces ids in a JSON text in one pass. Replacing 200 ids of images one by one would take 200 passes over
 * a text of 4 MB.
 */
const renameIds = (text: string, ids: ReadonlyMap<string, string>): string =>
  text.replaceAll(anyUuid, (id) => ids.get(id) ?? id);

/** A package that reaches every limit takes 2 s and 150 MB of heap on one slow core. */
const limits = { megabytes: 256, ms: 20_000, tooMuch: undefined } as const;

/**
 * Runs readPackage in a thread with limits on time and memory.
 * @throws the errors of readPackage; ApiError rate_limit_exceeded.
 */
async function readPackageInThread(workspaceId: string, bytes: Uint8Array): Promise<PackageText> {
  const module = new URL('read-package.ts', import.meta.url);
  const given: Parameters<typeof readPackage> = [bytes];
  const read = await runInThread<PackageText | undefined>(
    workspaceId,
    { module, name: 'readPackage', given },
    limits,
  );
  if (read) return read;
  throw new ApiError(
    'validation_error',
    'Reading the file takes too much time or memory. Export the form again.',
  );
}

/** What was not imported from a package, and why. */
type LeftOut = { what: string; why: string };

export type UnpackServices = ImageServices & CreateWebhookServices;

/**
 * Creates a draft from a package with all its versions, its working copy and its webhooks, in one
 * transaction. Every id is new. Images are stored first; after a failure they are deleted later, like all
 * images that no form uses.
 * @throws ApiError as readPackage; forbidden for settings that send answers, as importForm.
 */
export async function unpackForm(context: UnpackServices, scope: UnpackScope, bytes: Buffer) {
  const form = await readForm(context, scope, await readPackageInThread(scope.workspaceId, bytes));
  const row = await transaction(context.database, (client) => writeForm(client, context, scope, form));
  return { row, structure: form.versions.at(-1)!.structure, leftOut: form.leftOut };
}

type UnpackScope = Pick<RequestScope, 'workspaceId' | 'actor' | 'may'>;

/** A form that is ready to be written. Its images are already stored. */
type ReadForm = {
  versions: readonly PackageVersion[];
  copy: PackageManifest['draft'];
  webhooks: PackageManifest['webhooks'];
  labels: string[];
  leftOut: LeftOut[];
  id: string;
};

/** Parses a package and stores its images. The form and its images have new ids in the result. */
async function readForm(
  context: UnpackServices,
  scope: UnpackScope,
  { manifest: manifestText, versions: versionTexts, images }: PackageText,
): Promise<ReadForm> {
  const { database } = context;
  const { workspaceId } = scope;
  const manifest = JSON.parse(manifestText) as PackageManifest;
  const id = newId();
  const ids = new Map([[manifest.id, id]]);
  for (const [index, image] of images.entries())
    ids.set(manifest.images[index]!, (await storeImage(context, workspaceId, Buffer.from(image.buffer))).id);
  const leftOut: LeftOut[] = [];
  const keep = async (settings: object): Promise<Settings> => {
    const missing = (await findMissingImages(database, workspaceId, { settings })).map(({ field }) => field!);
    for (const what of missing)
      if (!leftOut.some((each) => each.what === what))
        leftOut.push({ what, why: 'The file does not contain this image.' });
    if ('slug' in settings && !leftOut.some(({ what }) => what === 'settings.slug'))
      leftOut.push({ what: 'settings.slug', why: 'Only one form can have a short address.' });
    return withoutSlug(withoutImages(settings, missing));
  };
  const versions: PackageVersion[] = [];
  // A version can have 4 MB: the event loop serves other requests between two versions.
  for await (const text of iterateWithYields(versionTexts, ({ length }) => length)) {
    const version = JSON.parse(renameIds(text, ids)) as PackageVersion;
    versions.push({ ...version, settings: version.settings && (await keep(version.settings)) });
  }
  const draft =
    manifest.draft &&
    (JSON.parse(renameIds(JSON.stringify(manifest.draft), ids)) as NonNullable<PackageManifest['draft']>);
  const copy = draft && { ...draft, settings: await keep(draft.settings) };
  for (const settings of [versions.at(-1)!.settings, copy?.settings])
    await requireAllowedSettings(scope, settings, async () => ({}));
  const webhooks = await chooseWebhooks(context, scope, manifest, leftOut);
  if (manifest.has_password)
    leftOut.push({
      what: 'settings.password',
      why: 'Passwords are never exported. Set one before you publish the form.',
    });
  if (manifest.versions_left_out > 0)
    leftOut.push({
      what: 'versions',
      why: `Number of oldest versions missing from the file: ${manifest.versions_left_out}.`,
    });
  return { id, versions, copy, webhooks, labels: normalizeLabels(manifest.labels ?? []), leftOut };
}

async function writeForm(
  client: Queryable,
  { vault }: Pick<UnpackServices, 'vault'>,
  { workspaceId, actor }: Pick<UnpackScope, 'workspaceId' | 'actor'>,
  { id, versions, copy, webhooks, labels }: ReadForm,
) {
  const created = await writeVersions(client, { workspaceId, id, versions, labels });
  if (copy) {
    const place = { workspaceId, formId: id, userId: personIdOf(actor) };
    await saveWorkingCopy(client, { ...place, ...copy, revisions: [0], baseVersion: versions.length });
  }
  for (const { id: _id, created_at, ...webhook } of webhooks)
    await createWebhookInTransaction(client, vault, {
      ...webhook,
      id: newId(),
      workspaceId,
      formId: id,
      at: new Date(created_at),
      isPaused: !webhook.active,
      pausesOnFailure: webhook.pauses_on_failure,
    });
  return created;
}

/** Writes all versions with their original times, oldest first. The last one is the form. */
async function writeVersions(
  client: Queryable,
  {
    workspaceId,
    id,
    versions,
    labels,
  }: { workspaceId: string; id: string; versions: readonly PackageVersion[]; labels: string[] },
) {
  const [first, ...later] = versions.map(({ structure, settings, created_at }) => ({
    structure,
    ...(settings && { settings }),
    at: new Date(created_at),
  }));
  const row = await createForm(client, workspaceId, { ...first!, id, labels });
  for (const version of later) await changeForm(client, workspaceId, id, version);
  return row;
}

/**
 * Chooses the webhooks to import. A webhook with a secret or with headers is paused until they are set again:
 * its receiver would refuse requests without them.
 */
async function chooseWebhooks(
  { config }: UnpackServices,
  { may }: Pick<RequestScope, 'may'>,
  { webhooks }: PackageManifest,
  leftOut: LeftOut[],
): Promise<PackageManifest['webhooks']> {
  if (webhooks.length > 0 && !may('webhooks:write')) {
    leftOut.push({ what: 'webhooks', why: 'Adding webhooks requires the permission webhooks:write.' });
    return [];
  }
  const chosen: PackageManifest['webhooks'] = [];
  for (const [index, webhook] of webhooks.entries()) {
    const what = `webhooks.${index}`;
    const [problem] = [...(await urlProblems(config, webhook.url)), ...eventProblems(webhook.events)];
    const hasSecrets = webhook.has_secret || webhook.header_names.length > 0;
    if (hasSecrets) {
      const names = [...(webhook.has_secret ? ['its secret'] : []), ...webhook.header_names];
      leftOut.push({
        what,
        why: `Secrets are never exported. The webhook is paused until these are set again: ${names.join(', ')}.`,
      });
    }
    if (problem) leftOut.push({ what, why: problem.message });
    else chosen.push({ ...webhook, active: webhook.active && !hasSecrets });
  }
  return chosen;
}
