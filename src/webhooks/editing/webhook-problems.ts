import { checkFilter } from '#ast/logic/check-filter.ts';
import { countCharacters, isCleanText } from '#ast/text.ts';
import type { Form } from '#ast/tree.ts';
import type { Config } from '#kit/config.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { checkTarget } from '#kit/outbound/target.ts';
import { type Plan, plans } from '#workspaces/plans.ts';
import { eventKinds, isEventKind } from '../event.ts';

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
export const filterProblems = (form: Form, filter: unknown): ErrorItem[] =>
  checkFilter(form, filter).map(({ message, path }) => ({ field: 'filter', message, path: [...path] }));

/** Specification, "Webhook signature" 1. */
export function planProblems(plan: Plan): ErrorItem[] {
  if (plans[plan].signedWebhooks) return [];
  const message =
    'Signed webhooks need the Pro, Business or Enterprise plan. Leave the secret out, or change the plan.';
  return [{ field: 'secret', message, code: 'not_allowed' }];
}
