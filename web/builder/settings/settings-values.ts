import type { Settings } from '#ast/settings.ts';

/** The settings that the theme view is about. */
export function themeSettings({ theme, locale }: Settings): Settings {
  return { ...(theme !== undefined && { theme }), ...(locale !== undefined && { locale }) };
}

/** All the others, which the settings view is about. */
export function otherSettings({ theme: _theme, locale: _locale, ...others }: Settings): Settings {
  return others;
}

/** The keys in which two sets of settings differ, with null for what was taken away: what a save sends. */
export function changedSettings(before: Settings, after: Settings): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof Settings>;
  return Object.fromEntries(
    [...names]
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, after[name] ?? null]),
  );
}

/** A UTC timestamp as the local date and time that `datetime-local` shows; empty for none. */
export function toLocal(timestamp: string | undefined): string {
  if (!timestamp) return '';
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** What was entered as local date and time, as the UTC timestamp that is stored; undefined for none. */
export function fromLocal(local: string): string | undefined {
  if (local === '') return undefined;
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
