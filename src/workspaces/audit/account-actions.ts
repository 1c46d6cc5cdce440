import { isRecord } from '#ast/basics/json.ts';
import { accountChanges } from './email-events.ts';

/** Actions of people on their account, and of the operator on the command line. */
export const accountActions = [
  ...accountChanges,
  'signIn',
  'signInByPasskey',
  'signInByProvider',
  'takeSecondStep',
  'signOut',
  'endSession',
  'endOtherSessions',
  'changePassword',
  'finishPasswordReset',
  'renamePerson',
  'renamePasskey',
  'createUser',
  'replacePassword',
] as const;
export type AccountAction = (typeof accountActions)[number];

/** Changed settings by name: `settings.confirmation_message`. */
export type AuditedChanges = Readonly<Record<string, { from?: unknown; to?: unknown }>>;

/** The log only says that longer values (as JSON) have changed. */
const longestValue = 300;
export const omittedValue = '…';
/** The maximum number of settings in an entry. */
const mostChanges = 50;
/** The maximum depth to which nested settings are compared. */
const deepest = 3;

/** Properties that change automatically or with new submissions, or that the entry contains anyway. */
const ignoredProperties = new Set([
  'id',
  'created_at',
  'updated_at',
  'last_used_at',
  'last_used_address',
  'requests',
  // The prefix of a secret.
  'prefix',
  'last_delivery',
  'day',
  'failing_since',
  'submission_count',
]);

/**
 * Returns what an operation changed, by comparing API representations. These contain no secrets, and the
 * query strings of URLs are removed.
 * @returns undefined if nothing differs.
 */
export function auditedChangesBetween(before: unknown, after: unknown): AuditedChanges | undefined {
  const [old, young] = [settingsOf(before), settingsOf(after)];
  const names = [...new Set([...old.keys(), ...young.keys()])];
  const changed = names.filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(young.get(name)));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(
    changed.slice(0, mostChanges).map((name) => [
      name,
      {
        ...(old.has(name) && { from: shown(old.get(name)) }),
        ...(young.has(name) && { to: shown(young.get(name)) }),
      },
    ]),
  );
}

function settingsOf(thing: unknown, path: readonly string[] = []): Map<string, unknown> {
  if (!isRecord(thing)) return new Map();
  return new Map(
    Object.entries(thing).flatMap(([name, value]): [string, unknown][] => {
      if (path.length === 0 && ignoredProperties.has(name)) return [];
      if (value === null) return [];
      const place = [...path, name];
      return isRecord(value) && place.length < deepest
        ? [...settingsOf(value, place)]
        : [[place.join('.'), value]];
    }),
  );
}

function shown(value: unknown): unknown {
  if (typeof value === 'string' && value.length <= longestValue) return withoutQuery(value);
  return JSON.stringify(value).length > longestValue ? omittedValue : value;
}

/** Removes the query string and credentials, because URLs of webhooks may contain secrets. */
function withoutQuery(text: string): string {
  const url = /^https?:/i.test(text) ? URL.parse(text) : null;
  return url ? `${url.origin}${url.pathname}${url.search && '?…'}` : text;
}
