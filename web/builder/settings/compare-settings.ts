import { changedSettings } from '#ast/merge-settings.ts';
import type { SettingName, Settings } from '#ast/settings.ts';
import { pictureKeys, type Theme } from '#ast/theme/theme.ts';
import { type Difference, sayChange, sayTranslations } from '../model/compare.ts';
import {
  cornerChoices,
  densityChoices,
  fontChoices,
  localeLabels,
  modeChoices,
} from '../theme/theme-choices.ts';
import { accessChoices, digestChoices, layoutChoices, settingTitles, themeTitles } from './setting-words.ts';
import { toLocal } from './settings-values.ts';

/** Everything in which one form's settings differ from another's, each setting by the name that it has on the screen. */
export function compareSettings(before: Settings, after: Settings): readonly Difference[] {
  return changedSettings(before, after).flatMap((name) =>
    name === 'theme'
      ? compareThemes(before.theme ?? {}, after.theme ?? {})
      : name === 'translations'
        ? [
            {
              kind: 'changed',
              subject: settingTitles[name],
              details: sayTranslations('', before[name], after[name]),
            },
          ]
        : [tell(settingTitles[name], name, before[name], after[name])],
  );
}

function compareThemes(before: Theme, after: Theme): Difference[] {
  const names = Object.keys({ ...before, ...after }) as (keyof Theme)[];
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => tell(`${settingTitles.theme}: ${themeTitles[name]}`, name, before[name], after[name]));
}

function tell(subject: string, name: SettingName | keyof Theme, before: unknown, after: unknown): Difference {
  return { kind: 'changed', subject, details: sayChange('', say(name, before), say(name, after)) };
}

/** What a choice is called on the screen. */
const choices: Partial<Record<SettingName | keyof Theme, readonly { id: string; label: string }[]>> = {
  access: accessChoices,
  notification_digest: digestChoices,
  layout: layoutChoices,
  locale: localeLabels,
  mode: modeChoices,
  font: fontChoices,
  corner: cornerChoices,
  density: densityChoices,
};

function say(name: SettingName | keyof Theme, value: unknown): unknown {
  if (value === undefined) return value;
  if (pictureKeys.some((key) => key === name)) return 'an image';
  if (name === 'short_reference') return value === true ? 'shown' : 'not shown';
  if ((name === 'opens_at' || name === 'closes_at') && typeof value === 'string')
    return toLocal(value).replace('T', ' ') || value;
  return choices[name]?.find(({ id }) => id === value)?.label ?? value;
}
