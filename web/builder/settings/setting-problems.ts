import { checkSettings, type SettingName, type Settings } from '#ast/settings.ts';
import type { Theme } from '#ast/theme/theme.ts';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/located-problems.ts';
import { settingTitles, themeTitles, viewOfSetting } from './setting-words.ts';

/** What keeps a setting from being published: which, where it is changed, and what it is called there. */
export type SettingProblem = {
  /** As the API names it: `closes_at`, `theme.color`. */
  readonly field: string;
  readonly view: ReturnType<typeof viewOfSetting>;
  readonly title: string;
  readonly message: string;
};

/** Every problem of settings beside their form: what the API would say, and an access that nobody could have. */
export function findSettingProblems(
  root: EditNode,
  settings: Settings,
  hasPassword: boolean,
): readonly SettingProblem[] {
  const result = validateRoot(root);
  const checked = checkSettings(settings, result.ok ? result.form : undefined);
  const errors = checked.ok ? [] : [...checked.errors];
  if (settings.access === 'password' && !hasPassword)
    errors.push({ field: 'password', message: 'Set a password: nobody could fill it in without one.' });
  return errors.map(locate).filter((problem) => problem !== undefined);
}

/** A problem of the service at its control; undefined for one that is about no setting. */
export function locate({
  field = '',
  message,
}: {
  field?: string;
  message: string;
}): SettingProblem | undefined {
  const [name, part] = field.split('.') as [SettingName, keyof Theme | undefined];
  if (!Object.hasOwn(settingTitles, name)) return undefined;
  const title = part === undefined ? settingTitles[name] : (themeTitles[part] ?? settingTitles[name]);
  return { field, view: viewOfSetting(name), title, message };
}

/**
 * Gives the focus to the control that is labelled so. Titles are declared once, so that the label on the screen is the
 * problem's own.
 */
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
