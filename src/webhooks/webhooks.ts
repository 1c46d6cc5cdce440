import { randomBytes } from 'node:crypto';
import { newId, timeOfId } from '#kit/clock.ts';
import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import {
  bytes,
  jsonText,
  nullable,
  type Queryable,
  requireRow,
  statement,
  textEnum,
} from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import type { Plan } from '#workspaces/authenticate.ts';
import { eventKinds } from './event.ts';
import type { WebhookFormat } from './format-body.ts';
import { conditionColumn, eventKindsColumn, lockWebhook } from './record-event.ts';
import {
  type CustomHeader,
  eventProblems,
  headerProblems,
  secretPlanProblems,
  secretProblems,
  throwWebhookProblems,
  urlProblems,
  validateFilterAndFormat,
} from './webhook-problems.ts';

/** Returns the plan of a form's workspace. Locks the form, so that its webhooks are added one at a time. */
const lockFormForWebhook = statement('workspace_id form_id', {
  plan: textEnum<Plan>(),
})`
  select workspaces.plan
    from forms
    join workspaces on workspaces.id = forms.workspace_id
   where forms.workspace_id = $workspace_id and forms.id = $form_id and forms.deleted_at is null
     for no key update of forms`;

/** Returns the plan of a workspace. Locks it, so that its own webhooks are added one at a time. */
const lockWorkspaceForWebhook = statement('workspace_id', {
  plan: textEnum<Plan>(),
})`
  select plan from workspaces where id = $workspace_id for no key update`;

const countWebhooks = statement('workspace_id form_id?', 'count')`
  select count(*) as count from webhooks where workspace_id = $workspace_id and form_id is not distinct from $form_id`;

export const insertWebhook = statement(
  [
    'workspace_id id form_id? url active secret? header_names pauses_on_failure created_at',
    {
      events: eventKindsColumn,
      /** `headers` are sealed, but `header_names` are not. */
      headers: nullable(bytes),
      filter: nullable(conditionColumn),
      format: textEnum<WebhookFormat>(),
      template: nullable(jsonText),
    },
  ],
  '',
)`
  insert into webhooks (workspace_id, id, form_id, url, events, active, paused_at, paused_by, secret, headers, header_names,
                        filter, format, template, pauses_on_failure, created_at, updated_at)
  values ($workspace_id, $id, $form_id, $url, $events, $active, case when not $active then $created_at end,
          case when not $active then 'person' end, $secret, $headers, $header_names,
          $filter, $format, $template, $pauses_on_failure, $created_at, $created_at)`;

/** Deletes a webhook with its deliveries. Their jobs find nothing to send. */
const deleteWebhookRow = statement('workspace_id id', 'id')`
  delete from webhooks where workspace_id = $workspace_id and id = $id returning id`;

export type WebhookToCreate = {
  workspaceId: string;
  /** Null for a webhook of the workspace, which gets the events of all forms. */
  formId: string | null;
  url: string;
  events: readonly string[];
  /**
   * 16 to 256 characters, or `generate` for a generated secret. Without a secret, deliveries are not signed.
   */
  secret?: string | undefined;
  /** Headers that are sent with every delivery. Each needs a value. */
  headers?: readonly CustomHeader[] | undefined;
  /** A condition that submissions must meet. If it is null or omitted, all submissions are sent. */
  filter?: unknown;
  /** Default: `standard`. */
  format?: WebhookFormat | undefined;
  /** Required for the format `template`. */
  template?: unknown;
  /** Whether the webhook is paused after several days in which every delivery failed. Default: true. */
  pausesOnFailure?: boolean | undefined;
};

export type CreateWebhookServices = {
  database: Database;
  vault: Pick<Vault, 'seal'>;
  config: Pick<Config, 'webhookAllowNetworks' | 'publicUrl'>;
};

/** The maximum number of webhooks per form, and of webhooks of the workspace itself. */
export const mostWebhooks = 20;

/**
 * Adds a webhook to a form or to a workspace. Specification, "Webhook signature" 1 and "Receiver requirements".
 * @returns its id, and its secret if it has one. The secret is returned only here.
 * @throws ApiError validation_error with every problem; not_found if the form is not in the workspace;
 * conflict if the form or the workspace has reached its webhook limit.
 */
export async function createWebhook(
  context: CreateWebhookServices,
  webhook: WebhookToCreate,
): Promise<{ id: string; secret?: string }> {
  const { url } = webhook;
  throwWebhookProblems([
    ...(await urlProblems(context.config, url)),
    ...eventProblems(webhook.events),
    ...(webhook.secret === undefined ? [] : secretProblems(webhook.secret)),
    ...headerProblems(webhook.headers ?? []),
  ]);
  const id = newId();
  const secret = webhook.secret === 'generate' ? generateWebhookSecret() : webhook.secret;
  await transaction(context.database, async (client) =>
    createWebhookInTransaction(client, context.vault, { ...webhook, id, secret, at: timeOfId(id) }),
  );
  return secret === undefined ? { id } : { id, secret };
}

/**
 * Adds a webhook in a transaction, after its URL, events, secret and headers were checked.
 * @throws the errors of createWebhook.
 */
export async function createWebhookInTransaction(
  client: Queryable,
  vault: Pick<Vault, 'seal'>,
  webhook: WebhookToCreate & { id: string; at: Date; isPaused?: boolean },
): Promise<void> {
  const { secret } = webhook;
  await checkForm(client, webhook);
  const { format = 'standard', template = null, url } = webhook;
  const filter = await validateFilterAndFormat(client, webhook, webhook.filter, { format, template, url });
  await insertWebhook(client, {
    workspace_id: webhook.workspaceId,
    id: webhook.id,
    form_id: webhook.formId,
    url,
    events: eventKinds.filter((kind) => webhook.events.includes(kind)),
    active: !webhook.isPaused,
    secret: secret === undefined ? null : vault.seal('webhook secrets', secret),
    ...sealHeaders(vault, mergeStoredHeaders(webhook.headers ?? [], {})),
    filter,
    format,
    template: template === null ? null : JSON.stringify(template),
    pauses_on_failure: webhook.pausesOnFailure ?? true,
    created_at: webhook.at,
  });
}

/**
 * Deletes a webhook with its delivery log. Waiting deliveries are not sent.
 * @throws ApiError not_found.
 */
export async function deleteWebhook(
  { database }: { database: Database },
  {
    workspaceId,
    webhookId,
    unchanged = null,
  }: { workspaceId: string; webhookId: string; unchanged?: IfMatchTimes },
): Promise<void> {
  const webhook = { workspace_id: workspaceId, id: webhookId };
  await transaction(database, async (client) => {
    const found = requireRow(await lockWebhook(client, webhook));
    requireUnchanged(unchanged, found.updated_at);
    await deleteWebhookRow(client, webhook);
  });
}

/** Returns headers with their values, including the kept ones. @param stored the current values, by name. */
export function mergeStoredHeaders(
  headers: readonly CustomHeader[],
  stored: Readonly<Record<string, string>>,
): Record<string, string> {
  const before = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    headers.map(({ name, value }) => [name, value ?? before.get(name.toLowerCase())!]),
  );
}

/** Seals headers for storage. Their names are not secret, because members must see which headers exist. */
export function sealHeaders(
  vault: Pick<Vault, 'seal'>,
  headers: Readonly<Record<string, string>>,
): { headers: Buffer | null; header_names: string[] } {
  const header_names = Object.keys(headers);
  const sealed = vault.seal('webhook headers', JSON.stringify(headers));
  return { headers: header_names.length > 0 ? sealed : null, header_names };
}

/** Generates a secret of 32 random bytes. */
export const generateWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Makes the checks that need the database. Locks the form or the workspace, so that webhooks added at the same
 * time are counted one by one.
 */
async function checkForm(client: Queryable, { workspaceId, formId, secret }: WebhookToCreate): Promise<void> {
  const workspace = { workspace_id: workspaceId };
  const found = requireRow<{ plan: Plan }>(
    formId === null
      ? await lockWorkspaceForWebhook(client, workspace)
      : await lockFormForWebhook(client, { ...workspace, form_id: formId }),
  );
  if (secret !== undefined) throwWebhookProblems(secretPlanProblems(found.plan));
  const [counted] = await countWebhooks(client, { ...workspace, form_id: formId });
  if (counted!.count >= mostWebhooks) {
    const owner = formId === null ? 'A workspace can have at most' : 'A form can have at most';
    const kind = formId === null ? 'webhooks for all forms' : 'webhooks';
    throw new ApiError('conflict', `${owner} ${mostWebhooks} ${kind}. Delete one first.`);
  }
}
