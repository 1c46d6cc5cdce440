import { isRecord } from '#ast/basics/json.ts';
import { personalNews } from './mail-news.ts';

/** What people do about their own account, and what the operator does about it at the command line. */
export const personalDeeds = [
  ...personalNews,
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
export type PersonalDeed = (typeof personalDeeds)[number];

/** What became of the settings of a thing, by their names: `settings.success_message`. */
export type Changes = Readonly<Record<string, { from?: unknown; to?: unknown }>>;

/** Values that are longer, as JSON, are said to have changed, and no more. */
const longestValue = 300;
export const tooLong = '…';
/** Settings of one line. */
const mostChanges = 50;
/** So deep are settings told apart. */
const deepest = 3;

/** What changes by itself, or with submissions that come in, and what the line says anyway. */
const passedOver = new Set([
  'id',
  'created_at',
  'updated_at',
  'last_used_at',
  'last_used_address',
  'requests',
  // Of a secret.
  'prefix',
  'last_delivery',
  'day',
  'failing_since',
  'submission_count',
]);

/**
 * What an operation changed of a thing, by what the API tells of it before and after: without secrets, which it never tells, and
 * without what addresses hold behind their `?`.
 * @returns undefined when nothing is another.
 */
export function changesBetween(before: unknown, after: unknown): Changes | undefined {
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
      if (path.length === 0 && passedOver.has(name)) return [];
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
  return JSON.stringify(value).length > longestValue ? tooLong : value;
}

/** Addresses of webhooks carry secrets behind the path, and before the host. */
function withoutQuery(text: string): string {
  const url = /^https?:/i.test(text) ? URL.parse(text) : null;
  return url ? `${url.origin}${url.pathname}${url.search && '?…'}` : text;
}
