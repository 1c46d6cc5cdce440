import type { Condition } from '#ast/basics/condition.ts';
import { withoutNulls } from '#ast/basics/json.ts';
import { countCharacters, isCleanText } from '#ast/basics/text.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import { checkFilter } from '#ast/logic/check-condition.ts';
import { requireForm } from '#forms/form-rows.ts';
import type { Config } from '#kit/config.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { findTargetUrlProblem } from '#kit/outbound/outbound.ts';
import type { Queryable } from '#kit/statement.ts';
import { type Plan, plans } from '#workspaces/authenticate.ts';
import { readChatId } from './chat-messages.ts';
import { eventKinds, isEventKind } from './event.ts';
import type { WebhookFormat } from './format-body.ts';
import { templateProblems } from './template.ts';

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
 * @param form the live version; undefined for a webhook of the workspace.
 */
function filterProblems(form: Form | undefined, filter: unknown): ErrorItem[] {
  if (filter === null) return [];
  if (form)
    return checkFilter(form, filter).map(({ message, path }) => ({
      field: 'filter',
      message,
      path: [...path],
    }));
  const message =
    'A filter names questions of one form. Remove it, or create the webhook for a form: POST /forms/{id}/webhooks.';
  return [{ field: 'filter', message, code: 'not_allowed' }];
}

/** Returns the problems of a format with its template and its URL. */
function formatProblems(form: Form | undefined, { format, template, url }: FormatToCheck): ErrorItem[] {
  if (format === 'template' && template === null)
    return [{ field: 'template', message: 'This format needs a template.', code: 'required' }];
  if (format !== 'template' && template !== null) {
    const message = 'A template needs the format "template". Change the format, or remove the template.';
    return [{ field: 'template', message, code: 'not_allowed' }];
  }
  if (format === 'telegram' && readChatId(url) === null) {
    const message =
      'Add the chat to the URL: https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>.';
    return [{ field: 'url', message, code: 'required' }];
  }
  const ids = form && new Set(listQuestions(form).map(({ element }) => element.attrs.id));
  return template === null ? [] : templateProblems(template, ids);
}

/** Checks that the plan allows secrets. Specification, "Webhook signature" 1. */
export function secretPlanProblems(plan: Plan): ErrorItem[] {
  if (plans[plan].signedWebhooks) return [];
  const message =
    'Signed webhooks require the Pro, Business or Enterprise plan. Remove the secret, or change the plan.';
  return [{ field: 'secret', message, code: 'not_allowed' }];
}

/** The format of a webhook with everything that it depends on. Null: no template. */
export type FormatToCheck = { format: WebhookFormat; template: unknown; url: string };

/**
 * Validates a filter and a format against the live version of the webhook's form. Null means no filter; an
 * undefined format is not checked.
 * @returns the filter as it is stored.
 * @throws ApiError validation_error with every problem; not_found if the form does not exist.
 */
export async function validateFilterAndFormat(
  client: Queryable,
  { workspaceId, formId }: { workspaceId: string; formId: string | null },
  sent: unknown,
  format: FormatToCheck | undefined,
): Promise<Condition | null> {
  const filter = withoutNulls(sent ?? null) as Condition | null;
  const needsForm = filter !== null || (format?.template ?? null) !== null;
  const found = formId !== null && needsForm ? await requireForm(client, { workspaceId, formId }) : undefined;
  // The structure was validated when it was published.
  const form = found && effectiveForm(found.structure);
  throwWebhookProblems([...filterProblems(form, filter), ...(format ? formatProblems(form, format) : [])]);
  return filter;
}
