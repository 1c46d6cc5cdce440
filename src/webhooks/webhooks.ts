import { randomBytes } from 'node:crypto';
import type { Condition } from '#ast/basics/condition.ts';
import { withoutNulls } from '#ast/basics/json.ts';
import { countCharacters, isCleanText } from '#ast/basics/text.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import type { Form } from '#ast/form/tree.ts';
import { checkFilter } from '#ast/logic/check-condition.ts';
import { requireForm } from '#forms/form-rows.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { requireUnchanged, type Unchanged } from '#kit/conditional.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { checkTarget } from '#kit/outbound/outbound.ts';
import { bytes, nullable, type Queryable, requireRow, statement, word } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { type Plan, plans } from '#workspaces/authenticate.ts';
import { eventKinds, isEventKind } from './event.ts';
import { condition, kinds, lockWebhook } from './record-event.ts';

/** A header that a person adds to every delivery. null keeps the value that it has: values are never shown again. */
export type CustomHeader = { name: string; value: string | null };

export const mostHeaders = 10;
export const longestName = 64;
export const longestValue = 1_024;

/** Names that say how the request is carried, or that are ours: whoever could set them could lie about either. */
const reserved =
  /^(accept-encoding|connection|content-.*|date|expect|forwarded|host|http2-settings|keep-alive|origin|proxy-.*|range|referer|sec-.*|te|traceparent|trailer|transfer-encoding|upgrade|user-agent|via|webhook-.*|x-forwarded-.*|x-http-method.*|x-real-ip|x-service-.*)$/;

const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII, blanks and tabs inside. A line end would begin another header. */
const fieldValue = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/;

/**
 * What is wrong with headers, all at once.
 * @param kept the names whose values are there already.
 */
export function headerProblems(headers: readonly CustomHeader[], kept: readonly string[] = []): ErrorItem[] {
  const complain = (message: string): ErrorItem => ({ field: 'headers', message });
  const names = headers.map(({ name }) => name.toLowerCase());
  const known = kept.map((name) => name.toLowerCase());
  const problems = headers.flatMap(({ name, value }, index) => {
    const shown = JSON.stringify(name.slice(0, longestName));
    if (!token.test(name) || name.length > longestName)
      return [complain(`${shown} is not the name of a header of at most ${longestName} characters.`)];
    if (reserved.test(names[index]!)) return [complain(`The header ${shown} cannot be set.`)];
    if (names.indexOf(names[index]!) < index) return [complain(`The header ${shown} is there twice.`)];
    if (value === null)
      return known.includes(names[index]!) ? [] : [complain(`The header ${shown} needs a value.`)];
    if (value.length > longestValue || !fieldValue.test(value))
      return [complain(`The value of ${shown} must be 1 to ${longestValue} visible ASCII characters.`)];
    return [];
  });
  return headers.length > mostHeaders
    ? [complain(`A webhook has at most ${mostHeaders} headers of its own.`), ...problems]
    : problems;
}

/** Headers with their values, those that were kept included. @param stored what was there before, by name. */
export function fillHeaders(
  headers: readonly CustomHeader[],
  stored: Readonly<Record<string, string>>,
): Record<string, string> {
  const before = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    headers.map(({ name, value }) => [name, value ?? before.get(name.toLowerCase())!]),
  );
}

// What may be wrong with a webhook that somebody creates or changes, in sentences, by field.

/** In characters. */
export const longestUrl = 2_048;
export const secretLength = { least: 16, most: 256 } as const;

/** @throws ApiError validation_error with all problems, when there are any. */
export function refuse(problems: readonly ErrorItem[]): void {
  if (problems.length > 0) {
    throw new ApiError('validation_error', 'The webhook is not valid.', { errors: problems });
  }
}

/** The address is looked up: it must be https and public. Specification, "Receiver requirements". */
export async function urlProblems(
  config: Pick<Config, 'webhookAllowNetworks' | 'publicUrl'>,
  url: string,
): Promise<ErrorItem[]> {
  if (countCharacters(url) > longestUrl)
    return [{ field: 'url', message: `A URL has at most ${longestUrl} characters.`, code: 'too_long' }];
  const target = { allowNetworks: config.webhookAllowNetworks, ownUrls: [config.publicUrl] };
  const problem = await checkTarget(url, target);
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
      message: `There is no event ${JSON.stringify(event)}. Events: ${eventKinds.join(', ')}.`,
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
        message: `A secret has ${least} to ${most} characters.`,
        code: length < least ? 'too_short' : 'too_long',
      },
    ];
  }
  if (!isCleanText(secret)) {
    return [
      {
        field: 'secret',
        message: 'The secret holds a NUL or half of a surrogate pair.',
        code: 'not_storable',
      },
    ];
  }
  return [];
}

/** By `path`: the place of the part of the condition, as checkFilter counts it. @param form the live version. */
const filterProblems = (form: Form, filter: unknown): ErrorItem[] =>
  checkFilter(form, filter).map(({ message, path }) => ({ field: 'filter', message, path: [...path] }));

/** Specification, "Webhook signature" 1. */
export function planProblems(plan: Plan): ErrorItem[] {
  if (plans[plan].signedWebhooks) return [];
  const message =
    'Signed webhooks need the Pro, Business or Enterprise plan. Leave the secret out, or change the plan.';
  return [{ field: 'secret', message, code: 'not_allowed' }];
}

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
