import { effectiveForm } from '#ast/effective-form.ts';
import { withoutNulls } from '#ast/json.ts';
import { randomBytes } from 'node:crypto';
import type { Condition } from '#ast/logic/condition.ts';
import { requireForm } from '#forms/require-form.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { requireUnchanged, type Unchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { bytes, nullable, type Queryable, requireRow, statement, word } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { eventKinds } from '../event.ts';
import { type CustomHeader, fillHeaders, headerProblems } from './custom-headers.ts';
import {
  eventProblems,
  filterProblems,
  planProblems,
  refuse,
  secretProblems,
  urlProblems,
} from './webhook-problems.ts';
import type { Plan } from '#workspaces/plans.ts';
import { condition, kinds, lockWebhook } from '../record-event.ts';

// Webhooks ------------------------------------------------------------------------------------------------

/** The plan that a form's webhooks are under. Locks the form, so that its webhooks are added one by one. */
const lockFormForWebhook = statement(
  'webhooks.lock_form_for_webhook',
  'workspace_id form_id',
  { plan: word<Plan>() },
  `select workspaces.plan
     from forms
     join workspaces on workspaces.id = forms.workspace_id
    where forms.workspace_id = $workspace_id and forms.id = $form_id and forms.deleted_at is null
      for no key update of forms`,
);

const countWebhooks = statement(
  'webhooks.count_webhooks',
  'workspace_id form_id',
  'count',
  `select count(*) as count from webhooks where workspace_id = $workspace_id and form_id = $form_id`,
);

export const insertWebhook = statement(
  'webhooks.insert_webhook',
  [
    'workspace_id id form_id url active secret? header_names pauses_on_failure created_at',
    { events: kinds /** Sealed; and their names. */, headers: nullable(bytes), filter: nullable(condition) },
  ],
  '',
  `insert into webhooks (workspace_id, id, form_id, url, events, active, paused_at, paused_by, secret, headers, header_names,
                         filter, pauses_on_failure, created_at, updated_at)
   values ($workspace_id, $id, $form_id, $url, $events, $active, case when not $active then $created_at end,
           case when not $active then 'person' end, $secret, $headers, $header_names,
           $filter, $pauses_on_failure, $created_at, $created_at)`,
);

/** With its deliveries; the jobs of those find nothing to send. */
const deleteWebhookRow = statement(
  'webhooks.delete_webhook_row',
  'workspace_id id',
  'id',
  `delete from webhooks where workspace_id = $workspace_id and id = $id returning id`,
);

export type NewWebhook = {
  workspaceId: string;
  formId: string;
  url: string;
  events: readonly string[];
  /** A text of 16 to 256 characters, or `generate` for one that is made here. Without one nothing is signed. */
  secret?: string | undefined;
  /** Sent with every delivery. Each needs a value. */
  headers?: readonly CustomHeader[] | undefined;
  /** A condition: it hears only of submissions that meet it. Without one, or with null, of all. */
  filter?: unknown;
  /** Whether it is paused when it has only failed for days; yes, when left out. */
  pausesOnFailure?: boolean | undefined;
};

export type CreateWebhookContext = {
  database: Database;
  vault: Pick<Vault, 'seal'>;
  config: Pick<Config, 'webhookAllowNetworks' | 'publicUrl'>;
};

/** How many webhooks a form may have. */
export const mostWebhooks = 20;

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
  const { url } = webhook;
  refuse([
    ...(await urlProblems(context.config, url)),
    ...eventProblems(webhook.events),
    ...(webhook.secret === undefined ? [] : secretProblems(webhook.secret)),
    ...headerProblems(webhook.headers ?? []),
  ]);
  const id = newId();
  const secret = webhook.secret === 'generate' ? makeSecret() : webhook.secret;
  await transaction(context.database, async (client) =>
    addWebhook(client, context.vault, { ...webhook, id, secret, at: timeOfId(id) }),
  );
  return secret === undefined ? { id } : { id, secret };
}

/**
 * The same within a transaction, of one whose address, events, secret and headers were looked at.
 * @throws as createWebhook.
 */
export async function addWebhook(
  client: Queryable,
  vault: Pick<Vault, 'seal'>,
  webhook: NewWebhook & { id: string; at: Date; isPaused?: boolean },
): Promise<void> {
  const { secret } = webhook;
  await checkForm(client, webhook);
  const filter = await readFilter(client, webhook, webhook.filter);
  await insertWebhook(client, {
    workspace_id: webhook.workspaceId,
    id: webhook.id,
    form_id: webhook.formId,
    url: webhook.url,
    events: eventKinds.filter((kind) => webhook.events.includes(kind)),
    active: !webhook.isPaused,
    secret: secret === undefined ? null : vault.seal('webhook secrets', secret),
    ...sealHeaders(vault, fillHeaders(webhook.headers ?? [], {})),
    filter,
    pauses_on_failure: webhook.pausesOnFailure ?? true,
    created_at: webhook.at,
  });
}

/**
 * Removes a webhook with its delivery log. What waits to be sent is not sent.
 * @throws ApiError not_found.
 */
export async function deleteWebhook(
  { database }: { database: Database },
  {
    workspaceId,
    webhookId,
    unchanged = null,
  }: { workspaceId: string; webhookId: string; unchanged?: Unchanged },
): Promise<void> {
  const webhook = { workspace_id: workspaceId, id: webhookId };
  await transaction(database, async (client) => {
    const found = requireRow(await lockWebhook(client, webhook));
    requireUnchanged(unchanged, found.updated_at);
    await deleteWebhookRow(client, webhook);
  });
}

/** Headers as they are stored. Their names are not secret: a person must see which there are. */
export function sealHeaders(
  vault: Pick<Vault, 'seal'>,
  headers: Readonly<Record<string, string>>,
): { headers: Buffer | null; header_names: string[] } {
  const header_names = Object.keys(headers);
  const sealed = vault.seal('webhook headers', JSON.stringify(headers));
  return { headers: header_names.length > 0 ? sealed : null, header_names };
}

/**
 * A filter that somebody sent, checked against the live version of its form; null stands for none.
 * @throws ApiError validation_error with every problem; not_found when there is no such form.
 */
export async function readFilter(
  client: Queryable,
  { workspaceId, formId }: { workspaceId: string; formId: string },
  filter: unknown,
): Promise<Condition | null> {
  if (filter === undefined || filter === null) return null;
  const form = await requireForm(client, { workspaceId, formId });
  // It was validated when it became the live version.
  refuse(filterProblems(effectiveForm(form.structure), withoutNulls(filter)));
  return withoutNulls(filter) as Condition;
}

/** A secret that nobody guesses: 32 random bytes. */
export const makeSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** What only the database knows; holds the form, so that two who add a webhook at once are counted one by one. */
async function checkForm(client: Queryable, { workspaceId, formId, secret }: NewWebhook): Promise<void> {
  const form = { workspace_id: workspaceId, form_id: formId };
  const found = requireRow(await lockFormForWebhook(client, form));
  if (secret !== undefined) refuse(planProblems(found.plan));
  const [counted] = await countWebhooks(client, form);
  if (counted!.count >= mostWebhooks) {
    throw new ApiError('conflict', `A form has at most ${mostWebhooks} webhooks. Delete one first.`);
  }
}
