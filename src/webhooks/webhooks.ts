import { randomBytes } from 'node:crypto';
import { isCleanText } from '#ast/text.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { checkTarget } from '#kit/outbound.ts';
import { only, type Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { plans } from '#workspaces/plans.ts';
import { type EventKind, eventKinds, isEventKind } from './event.ts';
import {
  countWebhooks,
  deleteWebhookRow,
  insertWebhook,
  lockFormForWebhook,
  selectWebhooks,
} from './queries.ts';

export type NewWebhook = {
  workspaceId: string;
  formId: string;
  url: string;
  events: readonly string[];
  /** A text of 16 to 256 characters, or `generate` for one that is made here. Without one nothing is signed. */
  secret?: string | undefined;
};

/** A webhook as its workspace sees it: never its secret, which is shown once, when it is set. */
export type Webhook = {
  id: string;
  url: string;
  events: EventKind[];
  active: boolean;
  has_secret: boolean;
  created_at: Date;
};

export type CreateWebhookContext = {
  database: Database;
  vault: Pick<Vault, 'seal'>;
  config: Pick<Config, 'webhookAllowNetworks' | 'publicUrl'>;
};

const mostWebhooks = 20;
const longestUrl = 2_048;
const secretLength = { least: 16, most: 256 } as const;

/**
 * Adds a webhook to a form. Specification, "Webhook signature" 1 and "Receiver requirements".
 * @returns its id, and the secret when it has one: that is shown only here.
 * @throws ApiError validation_error with every problem; not_found when the workspace has no such form; conflict when
 * the form has as many webhooks as it may.
 */
export async function createWebhook(
  context: CreateWebhookContext,
  webhook: NewWebhook,
): Promise<{ id: string; secret?: string }> {
  const { workspaceId, formId, url } = webhook;
  refuse([
    ...(await urlProblems(context, url)),
    ...eventProblems(webhook.events),
    ...secretProblems(webhook.secret),
  ]);
  const id = newId();
  const secret = webhook.secret === 'generate' ? makeSecret(randomBytes(32)) : webhook.secret;
  await transaction(context.database, async (client) => {
    await checkForm(client, webhook);
    await insertWebhook(client, {
      workspace_id: workspaceId,
      id,
      form_id: formId,
      url,
      events: eventKinds.filter((kind) => webhook.events.includes(kind)),
      secret: secret === undefined ? null : context.vault.seal('webhook secrets', secret),
      created_at: timeOfId(id),
    });
  });
  return secret === undefined ? { id } : { id, secret };
}

/** The webhooks of a form, newest first; none when there is no such form. */
export const listWebhooks = (
  { database }: { database: Queryable },
  { workspaceId, formId }: { workspaceId: string; formId: string },
): Promise<Webhook[]> => selectWebhooks(database, { workspace_id: workspaceId, form_id: formId });

/**
 * Removes a webhook with its delivery log. What waits to be sent is not sent.
 * @throws ApiError not_found.
 */
export async function deleteWebhook(
  { database }: { database: Queryable },
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
): Promise<void> {
  const deleted = await deleteWebhookRow(database, { workspace_id: workspaceId, id: webhookId });
  if (deleted.length === 0) throw new ApiError('not_found');
}

const makeSecret = (random: Buffer): string => `whsec_${random.toString('base64')}`;

function refuse(problems: readonly ErrorItem[]): void {
  if (problems.length > 0) {
    throw new ApiError('validation_error', 'The webhook is not valid.', { errors: problems });
  }
}

async function urlProblems({ config }: CreateWebhookContext, url: string): Promise<ErrorItem[]> {
  if (url.length > longestUrl)
    return [{ field: 'url', message: `A URL has at most ${longestUrl} characters.` }];
  const target = { allowNetworks: config.webhookAllowNetworks, ownUrls: [config.publicUrl] };
  const problem = await checkTarget(url, target);
  return problem === undefined ? [] : [{ field: 'url', message: problem }];
}

function eventProblems(events: readonly string[]): ErrorItem[] {
  if (events.length === 0) return [{ field: 'events', message: 'At least one event is required.' }];
  return events
    .filter((event) => !isEventKind(event))
    .map((event) => ({
      field: 'events',
      message: `There is no event ${JSON.stringify(event)}. Events: ${eventKinds.join(', ')}.`,
    }));
}

function secretProblems(secret: string | undefined): ErrorItem[] {
  if (secret === undefined || secret === 'generate') return [];
  const { least, most } = secretLength;
  if (secret.length < least || secret.length > most) {
    return [{ field: 'secret', message: `A secret has ${least} to ${most} characters.` }];
  }
  if (!isCleanText(secret)) {
    return [{ field: 'secret', message: 'The secret holds a NUL or half of a surrogate pair.' }];
  }
  return [];
}

/** What only the database knows; holds the form, so that two who add a webhook at once are counted one by one. */
async function checkForm(client: Queryable, { workspaceId, formId, secret }: NewWebhook): Promise<void> {
  const form = { workspace_id: workspaceId, form_id: formId };
  const found = only(await lockFormForWebhook(client, form));
  if (!found) throw new ApiError('not_found');
  if (secret !== undefined && !plans[found.plan].signedWebhooks) {
    const message =
      'Signed webhooks need the Pro, Business or Enterprise plan. Leave the secret out, or change the plan.';
    refuse([{ field: 'secret', message }]);
  }
  const [counted] = await countWebhooks(client, form);
  if (counted!.count >= mostWebhooks) {
    throw new ApiError('conflict', `A form has at most ${mostWebhooks} webhooks. Delete one first.`);
  }
}
