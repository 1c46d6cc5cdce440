import { randomBytes } from 'node:crypto';
import type { Condition } from '#ast/basics/condition.ts';
import { withoutNulls } from '#ast/basics/json.ts';
import { countCharacters, isCleanText } from '#ast/basics/text.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import type { Form } from '#ast/form/tree.ts';
import { checkFilter } from '#ast/logic/check-condition.ts';
import { requireForm } from '#forms/form-rows.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { findTargetUrlProblem } from '#kit/outbound/outbound.ts';
import { bytes, nullable, type Queryable, requireRow, statement, textEnum } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { type Plan, plans } from '#workspaces/authenticate.ts';
import { eventKinds, isEventKind } from './event.ts';
import { conditionColumn, eventKindsColumn, lockWebhook } from './record-event.ts';

/**
 * A custom header that is sent with every delivery. A null value keeps the current one, because values are
 * never shown again.
 */
export type CustomHeader = { name: string; value: string | null };

export const mostHeaders = 10;
export const longestHeaderName = 64;
export const longestHeaderValue = 1_024;

/**
 * Names that control how the request is sent, or that belong to this service. Custom headers must not
 * override them.
 */
const reserved =
  /^(accept-encoding|connection|content-.*|date|expect|forwarded|host|http2-settings|keep-alive|origin|proxy-.*|range|referer|sec-.*|te|traceparent|trailer|transfer-encoding|upgrade|user-agent|via|webhook-.*|x-forwarded-.*|x-http-method.*|x-real-ip|x-service-.*)$/;

const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII, with spaces and tabs inside. A line break would begin another header. */
const fieldValue = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/;

/**
 * Returns all problems with headers.
 * @param kept the names of headers whose values are already stored.
 */
export function headerProblems(headers: readonly CustomHeader[], kept: readonly string[] = []): ErrorItem[] {
  const complain = (message: string): ErrorItem => ({ field: 'headers', message });
  const names = headers.map(({ name }) => name.toLowerCase());
  const known = kept.map((name) => name.toLowerCase());
  const problems = headers.flatMap(({ name, value }, index) => {
    const shown = JSON.stringify(name.slice(0, longestHeaderName));
    if (!token.test(name) || name.length > longestHeaderName)
      return [complain(`${shown} is not a valid header name of at most ${longestHeaderName} characters.`)];
    if (reserved.test(names[index]!)) return [complain(`The header ${shown} is reserved. Remove it.`)];
    if (names.indexOf(names[index]!) < index)
      return [complain(`The header ${shown} appears twice. Remove one.`)];
    if (value === null)
      return known.includes(names[index]!) ? [] : [complain(`The header ${shown} needs a value.`)];
    if (value.length > longestHeaderValue || !fieldValue.test(value))
      return [
        complain(
          `The value of ${shown} must consist of 1 to ${longestHeaderValue} visible ASCII characters.`,
        ),
      ];
    return [];
  });
  return headers.length > mostHeaders
    ? [complain(`A webhook can have at most ${mostHeaders} custom headers.`), ...problems]
    : problems;
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

// Checks for a webhook that is created or changed. Each returns its problems by field.

/** The maximum length of a URL, in characters. */
export const longestUrl = 2_048;
export const secretLength = { least: 16, most: 256 } as const;

/** @throws ApiError validation_error with all problems, if there are any. */
export function throwWebhookProblems(problems: readonly ErrorItem[]): void {
  if (problems.length > 0)
    throw new ApiError('validation_error', 'The webhook is not valid.', { errors: problems });
}

/**
 * Checks a URL, including a DNS lookup: it must use https and a public address. Specification, "Receiver
 * requirements".
 */
export async function urlProblems(
  config: Pick<Config, 'webhookAllowNetworks' | 'publicUrl'>,
  url: string,
): Promise<ErrorItem[]> {
  if (countCharacters(url) > longestUrl)
    return [
      { field: 'url', message: `The URL must be at most ${longestUrl} characters long.`, code: 'too_long' },
    ];
  const target = { allowNetworks: config.webhookAllowNetworks, ownUrls: [config.publicUrl] };
  const problem = await findTargetUrlProblem(url, target);
  return problem === undefined ? [] : [{ field: 'url', message: problem, code: 'invalid_format' }];
}

export function eventProblems(events: readonly string[]): ErrorItem[] {
  if (events.length === 0)
    return [{ field: 'events', message: 'At least one event is required.', code: 'too_few' }];
  return events
    .filter((event) => !isEventKind(event))
    .map((event) => ({
      field: 'events',
      code: 'invalid_choice',
      message: `${JSON.stringify(event)} is not an event. Events: ${eventKinds.join(', ')}.`,
    }));
}

export function secretProblems(secret: string): ErrorItem[] {
  if (secret === 'generate') return [];
  const { least, most } = secretLength;
  const length = countCharacters(secret);
  if (length < least || length > most) {
    return [
      {
        field: 'secret',
        message: `The secret must have ${least} to ${most} characters.`,
        code: length < least ? 'too_short' : 'too_long',
      },
    ];
  }
  if (!isCleanText(secret)) {
    return [
      {
        field: 'secret',
        message: 'The secret contains a NUL character or an unpaired surrogate. Remove it.',
        code: 'not_storable',
      },
    ];
  }
  return [];
}

/**
 * Returns the problems with a filter. `path` is the location in the condition, as returned by checkFilter.
 * @param form the live version.
 */
const filterProblems = (form: Form, filter: unknown): ErrorItem[] =>
  checkFilter(form, filter).map(({ message, path }) => ({ field: 'filter', message, path: [...path] }));

/** Checks that the plan allows secrets. Specification, "Webhook signature" 1. */
export function secretPlanProblems(plan: Plan): ErrorItem[] {
  if (plans[plan].signedWebhooks) return [];
  const message =
    'Signed webhooks require the Pro, Business or Enterprise plan. Remove the secret, or change the plan.';
  return [{ field: 'secret', message, code: 'not_allowed' }];
}

/** Returns the plan of a form's workspace. Locks the form, so that its webhooks are added one at a time. */
const lockFormForWebhook = statement('webhooks.lock_form_for_webhook', 'workspace_id form_id', {
  plan: textEnum<Plan>(),
})`
  select workspaces.plan
    from forms
    join workspaces on workspaces.id = forms.workspace_id
   where forms.workspace_id = $workspace_id and forms.id = $form_id and forms.deleted_at is null
     for no key update of forms`;

const countWebhooks = statement('webhooks.count_webhooks', 'workspace_id form_id', 'count')`
  select count(*) as count from webhooks where workspace_id = $workspace_id and form_id = $form_id`;

export const insertWebhook = statement(
  'webhooks.insert_webhook',
  [
    'workspace_id id form_id url active secret? header_names pauses_on_failure created_at',
    {
      events: eventKindsColumn /** `headers` are sealed, but `header_names` are not. */,
      headers: nullable(bytes),
      filter: nullable(conditionColumn),
    },
  ],
  '',
)`
  insert into webhooks (workspace_id, id, form_id, url, events, active, paused_at, paused_by, secret, headers, header_names,
                        filter, pauses_on_failure, created_at, updated_at)
  values ($workspace_id, $id, $form_id, $url, $events, $active, case when not $active then $created_at end,
          case when not $active then 'person' end, $secret, $headers, $header_names,
          $filter, $pauses_on_failure, $created_at, $created_at)`;

/** Deletes a webhook with its deliveries. Their jobs find nothing to send. */
const deleteWebhookRow = statement('webhooks.delete_webhook_row', 'workspace_id id', 'id')`
  delete from webhooks where workspace_id = $workspace_id and id = $id returning id`;

export type WebhookToCreate = {
  workspaceId: string;
  formId: string;
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
  /** Whether the webhook is paused after several days in which every delivery failed. Default: true. */
  pausesOnFailure?: boolean | undefined;
};

export type CreateWebhookServices = {
  database: Database;
  vault: Pick<Vault, 'seal'>;
  config: Pick<Config, 'webhookAllowNetworks' | 'publicUrl'>;
};

/** The maximum number of webhooks per form. */
export const mostWebhooks = 20;

/**
 * Adds a webhook to a form. Specification, "Webhook signature" 1 and "Receiver requirements".
 * @returns its id, and its secret if it has one. The secret is returned only here.
 * @throws ApiError validation_error with every problem; not_found if the form is not in the workspace;
 * conflict if the form has reached its webhook limit.
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
  const filter = await validateWebhookFilter(client, webhook, webhook.filter);
  await insertWebhook(client, {
    workspace_id: webhook.workspaceId,
    id: webhook.id,
    form_id: webhook.formId,
    url: webhook.url,
    events: eventKinds.filter((kind) => webhook.events.includes(kind)),
    active: !webhook.isPaused,
    secret: secret === undefined ? null : vault.seal('webhook secrets', secret),
    ...sealHeaders(vault, mergeStoredHeaders(webhook.headers ?? [], {})),
    filter,
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

/** Seals headers for storage. Their names are not secret, because members must see which headers exist. */
export function sealHeaders(
  vault: Pick<Vault, 'seal'>,
  headers: Readonly<Record<string, string>>,
): { headers: Buffer | null; header_names: string[] } {
  const header_names = Object.keys(headers);
  const sealed = vault.seal('webhook headers', JSON.stringify(headers));
  return { headers: header_names.length > 0 ? sealed : null, header_names };
}

/**
 * Validates a filter against the live version of its form. Null means no filter.
 * @throws ApiError validation_error with every problem; not_found if the form does not exist.
 */
export async function validateWebhookFilter(
  client: Queryable,
  { workspaceId, formId }: { workspaceId: string; formId: string },
  filter: unknown,
): Promise<Condition | null> {
  if (filter === undefined || filter === null) return null;
  const form = await requireForm(client, { workspaceId, formId });
  // The structure was validated when it was published.
  throwWebhookProblems(filterProblems(effectiveForm(form.structure), withoutNulls(filter)));
  return withoutNulls(filter) as Condition;
}

/** Generates a secret of 32 random bytes. */
export const generateWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Makes the checks that need the database. Locks the form, so that webhooks added at the same time are
 * counted one by one.
 */
async function checkForm(client: Queryable, { workspaceId, formId, secret }: WebhookToCreate): Promise<void> {
  const form = { workspace_id: workspaceId, form_id: formId };
  const found = requireRow(await lockFormForWebhook(client, form));
  if (secret !== undefined) throwWebhookProblems(secretPlanProblems(found.plan));
  const [counted] = await countWebhooks(client, form);
  if (counted!.count >= mostWebhooks)
    throw new ApiError('conflict', `A form can have at most ${mostWebhooks} webhooks. Delete one first.`);
}
