import { getProperty } from '#ast/basics/json.ts';
import { checkSettings, type SettingName, type Settings } from '#ast/settings.ts';
import type { SettingKind, SettingTexts } from '#ast/settings-kinds.ts';
import { settingNames, settingRow } from '#ast/settings-table.ts';
import { themePart, themeParts } from '#ast/theme/check-theme.ts';
import type { Theme } from '#ast/theme/theme.ts';
import {
  type EntryTextName,
  type EntryTranslations,
  isEntryTextName,
} from '#ast/translations/check-translations.ts';
import { compareValues, type ValueChange } from '#rules/compare-forms.ts';
import { withoutFieldName } from '../../api/client.ts';
import { type DescribedDifference, describeTranslations, describeValueChange } from '../model/compare.ts';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/form-problems.ts';

/** Converts a UTC timestamp to a local date and time for a `datetime-local` field; empty if there is none. */
export function toLocalDateTime(timestamp: string | undefined): string {
  if (!timestamp) return '';
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Converts a local date and time to the UTC timestamp that is stored. */
export function fromLocalDateTime(local: string): string | undefined {
  if (local === '') return undefined;
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Returns the title of a setting, or of a part of the theme: `closes_at`, `theme.color`. */
export function titleOfSetting(field: string): string | undefined {
  const [name, part] = field.split('.') as [SettingName, keyof Theme | undefined];
  if (!settingNames.includes(name)) return undefined;
  if (name === 'receipt' && part && isEntryTextName(part)) return formatEntryLabel(part, 'the receipt');
  return (
    (name === 'theme' && part && getProperty<SettingTexts>(themeParts, part)?.title) || settingRow(name).title
  );
}

const entryTextLabels = { title: 'Title', subject: 'Subject', message: 'Message' } as const;

/** Formats the label of a text: `Title of confirmation 2`. */
export const formatEntryLabel = (name: EntryTextName, entry: string): string =>
  `${entryTextLabels[name]} of ${entry}`;

/** Sets a text of an entry. If the text is empty, it is removed with its translations. */
export function withEntryText<Entry extends { readonly translations?: EntryTranslations }>(
  entry: Entry,
  name: EntryTextName | 'redirect_url',
  text: string,
): Entry {
  if (text !== '') return { ...entry, [name]: text };
  const without = (holder: object) => Object.entries(holder).filter(([key]) => key !== name);
  const { translations = {}, ...rest } = entry;
  const left = Object.entries(translations).flatMap(([language, texts]) => {
    const others = without(texts);
    return others.length === 0 ? [] : [[language, Object.fromEntries(others)] as const];
  });
  // The cast is safe: the text and the translations are optional.
  return {
    ...Object.fromEntries(without(rest)),
    ...(left.length > 0 && { translations: Object.fromEntries(left) }),
  } as Entry;
}

/** Returns the view in which a setting is edited. */
export function viewOfSetting(name: keyof Settings): 'theme' | 'languages' | 'settings' {
  if (name === 'translations') return 'languages';
  return name === 'theme' || name === 'locale' ? 'theme' : 'settings';
}

/** A problem with a setting that prevents publishing, with the view and the title of its control. */
export type SettingProblem = {
  /** The name of the field in the API: `closes_at`, `theme.color`. */
  readonly field: string;
  readonly view: ReturnType<typeof viewOfSetting>;
  readonly title: string;
  readonly message: string;
};

/**
 * Returns every problem in the settings: those that the API reports, and password protection without a
 * password.
 */
export function findSettingProblems(
  root: EditNode,
  settings: Settings,
  hasPassword: boolean,
): readonly SettingProblem[] {
  const result = validateRoot(root);
  const checked = checkSettings(settings, result.ok ? result.form : undefined);
  const errors = checked.ok ? [] : [...checked.errors];
  if (settings.access === 'password' && !hasPassword)
    errors.push({ field: 'password', message: 'Set a password. Without one, no one can fill in the form.' });
  return errors.map(locateSettingProblem).filter((problem) => problem !== undefined);
}

/** Locates a problem that the API reported; undefined if it is not about a setting. */
export function locateSettingProblem({
  field = '',
  message,
}: {
  field?: string;
  message: string;
}): SettingProblem | undefined {
  const title = titleOfSetting(field);
  if (title === undefined) return undefined;
  return {
    field,
    view: viewOfSetting(field.split('.')[0] as SettingName),
    title,
    message: withoutFieldName(message),
  };
}

/** Focuses the control of a setting. It is found by its label, which is the title of the problem. */
export function focusSetting({ title }: SettingProblem): void {
  const label = [...document.querySelectorAll('.builder .field-label')].find(
    ({ textContent }) => textContent === title,
  );
  const control = label
    ?.closest('.field')
    ?.querySelector<HTMLElement>('input:not([hidden], [tabindex="-1"]), textarea, button');
  control?.focus();
  control?.scrollIntoView({ block: 'center' });
}

/** Lists the differences between the settings of two forms, each with the title of the setting. */
export function compareSettings(before: Settings, after: Settings): readonly DescribedDifference[] {
  return compareValues(before, after).flatMap((change): DescribedDifference[] => {
    const { title } = settingRow(change.name as SettingName);
    if (change.name === 'theme')
      return compareValues(before.theme ?? {}, after.theme ?? {}).map((part) => {
        const row = themePart(part.name as keyof Theme);
        return describeChange(`${title}: ${row.title}`, row, part);
      });
    if (change.name === 'translations')
      return [
        { kind: 'changed', subject: title, details: describeTranslations('', change.before, change.after) },
      ];
    return [describeChange(title, settingRow(change.name as SettingName), change)];
  });
}

function describeChange(
  subject: string,
  row: SettingKind<unknown>,
  { before, after }: ValueChange,
): DescribedDifference {
  const [old, fresh] = [before, after].map((value) => describeValue(row, value));
  return { kind: 'changed', subject, details: describeValueChange('', old, fresh) };
}

/** Formats a value as its control shows it. */
function describeValue({ choices, control }: SettingKind<unknown>, value: unknown): unknown {
  if (value === undefined) return value;
  if (control === 'image') return 'an image';
  if (control === 'time' && typeof value === 'string')
    return toLocalDateTime(value).replace('T', ' ') || value;
  return choices?.find(({ id }) => id === value)?.label ?? value;
}
