import type { Settings } from '#ast/settings.ts';
import { requireAnswerReader } from '#forms/answer-settings.ts';
import { saveWorkingCopy } from '#forms/drafts/draft.ts';
import { changeForm, createForm } from '#forms/forms.ts';
import { findMissingImages, type ImagesContext, storeImage } from '#forms/images/images.ts';
import { withoutImages } from '#forms/import-form.ts';
import { whileFree } from '#kit/cells/servers/while-free.ts';
import { newId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import type { Queryable } from '#kit/statement.ts';
import { eventProblems, urlProblems } from '#webhooks/editing/webhook-problems.ts';
import { addWebhook, type CreateWebhookContext } from '#webhooks/editing/webhooks.ts';
import { personOf } from '#workspaces/actor.ts';
import {
  type Manifest,
  type Version,
  imagesIn,
  readManifest,
  readPackage,
  versionsIn,
} from './package-file.ts';

/** What of a package was not taken over, and why. */
export type LeftOut = { what: string; why: string };

export type UnpackContext = ImagesContext & CreateWebhookContext;

const uniqueViolation = '23505';

/**
 * Makes a form of a package: a draft with all its versions, its working copy and its webhooks, in one transaction. Images
 * come first, under new ids; those of an attempt that failed are swept like any that no form names.
 * @param keepsIds the form and its webhooks have the ids that they had.
 * @throws ApiError validation_error, payload_too_large; conflict for an id that is taken; forbidden for settings that send
 * answers, as import has it.
 */
export async function unpackForm(
  context: UnpackContext,
  scope: UnpackScope,
  { bytes, keepsIds }: { bytes: Buffer; keepsIds: boolean },
) {
  const entries = await readPackage(bytes);
  const form = await readForm(context, scope, entries, (id) => (keepsIds ? id : newId()));
  const write = () => transaction(context.database, (client) => writeForm(client, context, scope, form));
  const row = await (keepsIds ? whileFree(context.database, form.id, write) : write());
  return { row, structure: form.versions.at(-1)!.structure, leftOut: form.leftOut };
}

type UnpackScope = Pick<Scope, 'workspaceId' | 'actor' | 'may'>;

/** A form as it is about to be written, its images stored. */
type ReadForm = {
  told: Manifest;
  id: string;
  versions: readonly Version[];
  copy: Manifest['draft'];
  webhooks: Manifest['webhooks'];
  leftOut: LeftOut[];
};

/**
 * Reads a package, whose images are stored.
 * @param idOf the id that the form, or a webhook, has from now on.
 * @throws as unpackForm, but for conflict.
 */
export async function readForm(
  context: UnpackContext,
  scope: UnpackScope,
  entries: ReadonlyMap<string, Buffer>,
  idOf: (before: string) => string,
): Promise<ReadForm> {
  const { database } = context;
  const { workspaceId } = scope;
  const told = readManifest(entries);
  const id = idOf(told.id);
  const renamed = new Map([[told.id, id]]);
  for (const [before, image] of imagesIn(entries, told))
    renamed.set(before, (await storeImage(context, workspaceId, image)).id);
  const rename = (text: string): string =>
    [...renamed].reduce((changed, [before, now]) => changed.replaceAll(before, now), text);
  const leftOut: LeftOut[] = [];
  const keep = async (settings: object): Promise<Settings> => {
    const missing = (await findMissingImages(database, workspaceId, { settings })).map(({ field }) => field!);
    for (const what of missing)
      if (!leftOut.some((each) => each.what === what))
        leftOut.push({ what, why: 'The file does not have this image.' });
    return withoutImages(settings, missing);
  };
  const versions: Version[] = [];
  for (const version of versionsIn(entries, told, rename))
    versions.push({ ...version, settings: version.settings && (await keep(version.settings)) });
  const draft =
    told.draft && (JSON.parse(rename(JSON.stringify(told.draft))) as NonNullable<Manifest['draft']>);
  const copy = draft && { ...draft, settings: await keep(draft.settings) };
  for (const settings of [versions.at(-1)!.settings, copy?.settings])
    await requireAnswerReader(scope, settings, async () => ({}));
  const webhooks = (await chooseWebhooks(context, scope, told, leftOut)).map((webhook) => ({
    ...webhook,
    id: idOf(webhook.id),
  }));
  if (told.has_password)
    leftOut.push({
      what: 'settings.password',
      why: 'A password is in no file. Set one before the form is published.',
    });
  if (told.versions_left_out > 0)
    leftOut.push({ what: 'versions', why: `The file does not have the oldest ${told.versions_left_out}.` });
  return { told, id, versions, copy, webhooks, leftOut };
}

/** Writes a form that was read, in the caller's transaction. @throws ApiError conflict for an id that is taken. */
export async function writeForm(
  client: Queryable,
  { vault }: Pick<UnpackContext, 'vault'>,
  { workspaceId, actor }: Pick<UnpackScope, 'workspaceId' | 'actor'>,
  { id, versions, copy, webhooks }: ReadForm,
) {
  try {
    const made = await writeVersions(client, { workspaceId, id, versions });
    if (copy) {
      const place = { workspaceId, formId: id, userId: personOf(actor) };
      await saveWorkingCopy(client, { ...place, ...copy, revisions: [0], baseVersion: versions.length });
    }
    for (const { created_at, ...webhook } of webhooks)
      await addWebhook(client, vault, {
        ...webhook,
        workspaceId,
        formId: id,
        at: new Date(created_at),
        isPaused: !webhook.active,
        pausesOnFailure: webhook.pauses_on_failure,
      });
    return made;
  } catch (error) {
    if ((error as { code?: string }).code !== uniqueViolation) throw error;
    throw new ApiError(
      'conflict',
      `There is a form or a webhook with an id of this file here already (form ${id}).`,
    );
  }
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
