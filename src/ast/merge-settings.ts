import { isSameJson } from './json.ts';
import type { SettingName, Settings } from './settings.ts';

/** The names of the settings in which two differ. */
export function changedSettings(before: Settings, after: Settings): SettingName[] {
  const names = Object.keys({ ...before, ...after }) as SettingName[];
  return names.filter((name) => !isSameJson(before[name], after[name]));
}

/**
 * Mine with what they changed since `base`, setting by setting. Where both changed one, and not to the same, mine
 * stays and its name is among the conflicts.
 */
export function mergeSettings(
  base: Settings,
  mine: Settings,
  theirs: Settings,
): { settings: Settings; conflicts: readonly SettingName[] } {
  const ours = new Set(changedSettings(base, mine));
  const changed = changedSettings(base, theirs);
  const merged = {
    ...mine,
    ...Object.fromEntries(changed.filter((name) => !ours.has(name)).map((name) => [name, theirs[name]])),
  };
  return {
    settings: Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)),
    conflicts: changed.filter((name) => ours.has(name) && !isSameJson(mine[name], theirs[name])),
  };
}
