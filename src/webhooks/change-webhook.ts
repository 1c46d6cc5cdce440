import { now } from '#kit/clock.ts';
import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { jsonText, nullable, requireRow, statement, textEnum } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { eventKinds } from './event.ts';
import type { WebhookFormat } from './format-body.ts';
import { conditionColumn, eventKindsColumn, lockWebhook } from './record-event.ts';
import {
  type CustomHeader,
  eventProblems,
  type FormatToCheck,
  headerProblems,
  secretPlanProblems,
  secretProblems,
  throwWebhookProblems,
  urlProblems,
  validateFilterAndFormat,
} from './webhook-problems.ts';
import {
  type CreateWebhookServices,
  generateWebhookSecret,
  mergeStoredHeaders,
  sealHeaders,
} from './webhooks.ts';

/**
 * Updates a webhook. Null keeps a value. Because the secret, the headers and the filter can become null, a
 * flag says whether each changes. A replaced secret stays valid for `overlap` seconds, or not at all if
 * `overlap` is 0. Resuming a webhook clears its failures.
 */
const updateWebhook = statement(
  [
    'workspace_id id url? active? changes_secret:boolean secret? overlap:double',
    'changes_headers:boolean headers? header_names changes_filter:boolean pauses_on_failure?',
    'now',
    {
      events: nullable(eventKindsColumn),
      filter: nullable(conditionColumn),
      format: textEnum<WebhookFormat>(),
      template: nullable(jsonText),
    },
  ],
  '',
)`
  update webhooks
     set url = coalesce($url, url), events = coalesce($events, events), active = coalesce($active, active),
         paused_at = case when $active then null when active and not $active then $now else paused_at end,
         paused_by = case when $active then null when active and not $active then 'person' else paused_by end,
         failing_since = case when $active and not active then null else failing_since end,
         secret = case when $changes_secret then $secret else secret end,
         previous_secret = case when not $changes_secret then previous_secret
                                when $secret is not null and $overlap > 0 then secret end,
         previous_secret_until = case when not $changes_secret then previous_secret_until
                                      when $secret is not null and $overlap > 0 and secret is not null
                                      then $now + make_interval(secs => $overlap) end,
         headers = case when $changes_headers then $headers else headers end,
         header_names = case when $changes_headers then $header_names else header_names end,
         filter = case when $changes_filter then $filter else filter end,
         format = $format, template = $template, pauses_on_failure = coalesce($pauses_on_failure, pauses_on_failure),
         updated_at = greatest($now, updated_at + interval '1 ms')
   where workspace_id = $workspace_id and id = $id`;

/** Changes to a webhook. Omitted values are kept. */
export type WebhookUpdate = {
  workspaceId: string;
  webhookId: string;
  url?: string | undefined;
  events?: readonly string[] | undefined;
  /** False pauses the webhook. Events that happen during the pause are never sent, not even later. */
  active?: boolean | undefined;
  /** 16 to 256 characters, `generate` to have one generated, or null to remove the secret. */
  secret?: string | null | undefined;
  /** Whether deliveries are also signed with the previous secret for a day. Default: true. */
  overlap?: boolean | undefined;
  /** Replaces all headers. A null value keeps the current one. */
  headers?: readonly CustomHeader[] | undefined;
  /** A condition, or null for none. Events that are already recorded are not filtered again. */
  filter?: unknown;
  format?: WebhookFormat | undefined;
  template?: unknown;
  pausesOnFailure?: boolean | undefined;
  /** The state that the change is based on. */
  unchanged?: IfMatchTimes | undefined;
};

type ChangeWebhookContext = CreateWebhookServices & { vault: Pick<Vault, 'unseal'> };

/** How long the previous secret keeps signing after a rotation, in seconds. */
const overlapSeconds = 24 * 3_600;

/**
 * Changes a webhook, with the same checks as when it was created. Waiting deliveries go to the new URL,
 * signed with the new secret. For a day they are also signed with the previous secret, so that receivers can
 * switch without a gap.
 * @returns the secret if a new one was set. It is returned only here.
 * @throws ApiError validation_error with every problem; not_found; precondition_failed.
 */
export async function changeWebhook(
  context: ChangeWebhookContext,
  change: WebhookUpdate,
): Promise<{ secret?: string }> {
  const { workspaceId, webhookId, url, events, active } = change;
  throwWebhookProblems([
    ...(url === undefined ? [] : await urlProblems(context.config, url)),
    ...(events === undefined ? [] : eventProblems(events)),
    ...(typeof change.secret === 'string' ? secretProblems(change.secret) : []),
  ]);
  const secret = change.secret === 'generate' ? generateWebhookSecret() : change.secret;
  await transaction(context.database, async (client) => {
    const found = requireRow(await lockWebhook(client, { workspace_id: workspaceId, id: webhookId }));
    requireUnchanged(change.unchanged, found.updated_at);
    if (typeof secret === 'string') throwWebhookProblems(secretPlanProblems(found.plan));
    const headers = changedHeaders(context.vault, found, change);
    const look = changedFormat(found, change);
    const { template } = look ?? found;
    const place = { workspaceId, formId: found.form_id };
    const filter = await validateFilterAndFormat(client, place, change.filter, look);
    await updateWebhook(client, {
      workspace_id: workspaceId,
      id: webhookId,
      url: url ?? null,
      events: events ? eventKinds.filter((kind) => events.includes(kind)) : null,
      active: active ?? null,
      changes_secret: secret !== undefined,
      secret: typeof secret === 'string' ? context.vault.seal('webhook secrets', secret) : null,
      overlap: change.overlap === false ? 0 : overlapSeconds,
      changes_headers: headers !== undefined,
      ...sealHeaders(context.vault, headers ?? {}),
      changes_filter: change.filter !== undefined,
      filter,
      format: look?.format ?? found.format,
      template: template === null ? null : JSON.stringify(template),
      pauses_on_failure: change.pausesOnFailure ?? null,
      now: now(),
    });
  });
  return typeof secret === 'string' ? { secret } : {};
}

/**
 * Returns the new format of the webhook, or undefined if neither it nor the URL changes. Another format removes the
 * template.
 */
function changedFormat(
  stored: FormatToCheck,
  { url = stored.url, template, ...change }: Pick<WebhookUpdate, 'url' | 'format' | 'template'>,
): FormatToCheck | undefined {
  const { format = stored.format } = change;
  if (url === stored.url && format === stored.format && template === undefined) return undefined;
  const kept = format === 'template' ? stored.template : null;
  return { url, format, template: template === undefined ? kept : template };
}

type Stored = { url: string; headers: Buffer | null; header_names: readonly string[] };

/**
 * Returns the webhook's new headers, or undefined if they stay unchanged.
 * @throws ApiError validation_error, also if values are kept although the URL gets a new host. Otherwise a
 * person who can edit the webhook, but cannot see its headers, could send them to a server of their choice.
 */
function changedHeaders(
  vault: ChangeWebhookContext['vault'],
  stored: Stored,
  { url, headers }: WebhookUpdate,
): Record<string, string> | undefined {
  const movesAway = url !== undefined && new URL(url).origin !== new URL(stored.url).origin;
  const keeps = headers?.some(({ value }) => value === null) ?? stored.header_names.length > 0;
  if (headers) throwWebhookProblems(headerProblems(headers, stored.header_names));
  if (movesAway && keeps) {
    const message = 'The URL has a new host. Enter the header values again, or remove the headers.';
    throwWebhookProblems([{ field: 'headers', message, code: 'required' }]);
  }
  if (!headers) return undefined;
  if (!keeps || !stored.headers) return mergeStoredHeaders(headers, {});
  return mergeStoredHeaders(headers, unseal(vault, stored.headers));
}

/**
 * Decrypts the current headers. Fails if they were sealed with another key, because their values cannot be
 * recovered.
 */
function unseal(vault: ChangeWebhookContext['vault'], sealed: Buffer): Record<string, string> {
  try {
    return JSON.parse(vault.unseal('webhook headers', sealed)) as Record<string, string>;
  } catch {
    const message =
      'The instance key was replaced, so the stored header values cannot be read. Enter all of them again.';
    throw new ApiError('validation_error', message, {
      errors: [{ field: 'headers', message, code: 'required' }],
    });
  }
}
