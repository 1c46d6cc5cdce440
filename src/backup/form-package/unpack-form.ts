import type { Settings } from '#ast/settings.ts';
import { saveWorkingCopy } from '#forms/draft.ts';
import { changeForm, createForm } from '#forms/forms.ts';
import { findMissingImages, type ImagesContext, storeImage } from '#forms/images/images.ts';
import { withoutImages } from '#forms/new-forms.ts';
import { requireAnswerReader } from '#forms/settings.ts';
import { newId } from '#kit/clock.ts';
import { inTurns } from '#kit/concurrency.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import type { Queryable } from '#kit/statement.ts';
import { runInThread } from '#kit/threads/run-in-thread.ts';
import { addWebhook, type CreateWebhookContext, eventProblems, urlProblems } from '#webhooks/webhooks.ts';
import { personOf } from '#workspaces/authenticate.ts';
import type { Manifest, Version } from './package-file.ts';
import type { PackageText, readPackage } from './read-package.ts';

/** Finds every id in a JSON text. */
export const anyUuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** Replaces ids in a JSON text. One pass: 200 images in a text of 4 MB would take 200 passes one by one. */
const renameIds = (text: string, renamed: ReadonlyMap<string, string>): string =>
  text.replaceAll(anyUuid, (id) => renamed.get(id) ?? id);

/** A package at every limit takes 2 s and 150 MB of heap on one slow core. */
const limits = { megabytes: 256, ms: 20_000, tooMuch: undefined } as const;

/** Runs readPackage on a thread with limits of time and memory. @throws as readPackage; ApiError rate_limit_exceeded. */
async function readPackageBeside(workspaceId: string, bytes: Uint8Array): Promise<PackageText> {
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

/** What of a package was not taken over, and why. */
type LeftOut = { what: string; why: string };

export type UnpackContext = ImagesContext & CreateWebhookContext;

/**
 * Creates a draft from a package, with all its versions, its working copy and its webhooks, in one transaction. Every id is
 * new. Images are stored first: those of an attempt that fails are deleted later, like any that no form uses.
 * @throws ApiError as readPackage; forbidden for settings that send answers, as importForm.
 */
export async function unpackForm(context: UnpackContext, scope: UnpackScope, bytes: Buffer) {
  const form = await readForm(context, scope, await readPackageBeside(scope.workspaceId, bytes));
  const row = await transaction(context.database, (client) => writeForm(client, context, scope, form));
  return { row, structure: form.versions.at(-1)!.structure, leftOut: form.leftOut };
}

type UnpackScope = Pick<Scope, 'workspaceId' | 'actor' | 'may'>;

/** A form that is ready to be written. Its images are stored. */
type ReadForm = {
  versions: readonly Version[];
  copy: Manifest['draft'];
  webhooks: Manifest['webhooks'];
  leftOut: LeftOut[];
  id: string;
};

/** Parses a package and stores its images. The form and its images have new ids in everything that is returned. */
async function readForm(
  context: UnpackContext,
  scope: UnpackScope,
  { manifest: manifestText, versions: versionTexts, images }: PackageText,
): Promise<ReadForm> {
  const { database } = context;
  const { workspaceId } = scope;
  const told = JSON.parse(manifestText) as Manifest;
  const id = newId();
  const renamed = new Map([[told.id, id]]);
  for (const [index, image] of images.entries())
    renamed.set(told.images[index]!, (await storeImage(context, workspaceId, Buffer.from(image.buffer))).id);
  const leftOut: LeftOut[] = [];
  const keep = async (settings: object): Promise<Settings> => {
    const missing = (await findMissingImages(database, workspaceId, { settings })).map(({ field }) => field!);
    for (const what of missing)
      if (!leftOut.some((each) => each.what === what))
        leftOut.push({ what, why: 'The file does not have this image.' });
    return withoutImages(settings, missing);
  };
  const versions: Version[] = [];
  // A version may have 4 MB: the event loop serves others between two of them.
  for await (const text of inTurns(versionTexts, ({ length }) => length)) {
    const version = JSON.parse(renameIds(text, renamed)) as Version;
    versions.push({ ...version, settings: version.settings && (await keep(version.settings)) });
  }
  const draft =
    told.draft &&
    (JSON.parse(renameIds(JSON.stringify(told.draft), renamed)) as NonNullable<Manifest['draft']>);
  const copy = draft && { ...draft, settings: await keep(draft.settings) };
  for (const settings of [versions.at(-1)!.settings, copy?.settings])
    await requireAnswerReader(scope, settings, async () => ({}));
  const webhooks = await chooseWebhooks(context, scope, told, leftOut);
  if (told.has_password)
    leftOut.push({
      what: 'settings.password',
      why: 'A password is in no file. Set one before the form is published.',
    });
  if (told.versions_left_out > 0)
    leftOut.push({ what: 'versions', why: `The file does not have the oldest ${told.versions_left_out}.` });
  return { id, versions, copy, webhooks, leftOut };
}

/** Writes a form in the transaction of the caller. */
async function writeForm(
  client: Queryable,
  { vault }: Pick<UnpackContext, 'vault'>,
  { workspaceId, actor }: Pick<UnpackScope, 'workspaceId' | 'actor'>,
  { id, versions, copy, webhooks }: ReadForm,
) {
  const made = await writeVersions(client, { workspaceId, id, versions });
  if (copy) {
    const place = { workspaceId, formId: id, userId: personOf(actor) };
    await saveWorkingCopy(client, { ...place, ...copy, revisions: [0], baseVersion: versions.length });
  }
  for (const { id: _id, created_at, ...webhook } of webhooks)
    await addWebhook(client, vault, {
      ...webhook,
      id: newId(),
      workspaceId,
      formId: id,
      at: new Date(created_at),
      isPaused: !webhook.active,
      pausesOnFailure: webhook.pauses_on_failure,
    });
  return made;
}

/** Every version, the oldest first, at its time; the last is the form. */
async function writeVersions(
  client: Queryable,
  { workspaceId, id, versions }: { workspaceId: string; id: string; versions: readonly Version[] },
) {
  const [first, ...later] = versions.map(({ structure, settings, created_at }) => ({
    structure,
    ...(settings && { settings }),
    at: new Date(created_at),
  }));
  const row = await createForm(client, workspaceId, { ...first!, id });
  for (const version of later) await changeForm(client, workspaceId, id, version);
  return row;
}

/**
 * The webhooks that can be taken over. One that was signed, or sent headers of its own, is paused until somebody gives it
 * new ones: its receiver would refuse what comes without.
 */
async function chooseWebhooks(
  { config }: UnpackContext,
  { may }: Pick<Scope, 'may'>,
  { webhooks }: Manifest,
  leftOut: LeftOut[],
): Promise<Manifest['webhooks']> {
  if (webhooks.length > 0 && !may('webhooks:write')) {
    leftOut.push({ what: 'webhooks', why: 'It takes the permission webhooks:write to add them.' });
    return [];
  }
  const chosen: Manifest['webhooks'] = [];
  for (const [index, webhook] of webhooks.entries()) {
    const what = `webhooks.${index}`;
    const [problem] = [...(await urlProblems(config, webhook.url)), ...eventProblems(webhook.events)];
    const hasSecrets = webhook.has_secret || webhook.header_names.length > 0;
    if (hasSecrets) {
      const names = [...(webhook.has_secret ? ['its secret'] : []), ...webhook.header_names];
      leftOut.push({
        what,
        why: `Secrets are in no file. It is paused until it has them again: ${names.join(', ')}.`,
      });
    }
    if (problem) leftOut.push({ what, why: problem.message });
    else chosen.push({ ...webhook, active: webhook.active && !hasSecrets });
  }
  return chosen;
}
