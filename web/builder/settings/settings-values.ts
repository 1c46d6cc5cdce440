import {
  type AccessMode,
  changedSettings,
  checkSettings,
  type DigestMode,
  type FormLayout,
  type SettingName,
  type Settings,
} from '#ast/settings.ts';
import { pictureKeys, type Theme } from '#ast/theme/theme.ts';
import type { ConfirmationText } from '#ast/translations/check-translations.ts';
import type { Choice } from '../../design/select.tsx';
import { type Difference, sayChange, sayTranslations } from '../model/compare.ts';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/say-problem.ts';
import {
  cornerChoices,
  densityChoices,
  fontChoices,
  localeLabels,
  modeChoices,
} from '../model/theme-choices.ts';

/** Converts a UTC timestamp to the local date and time for `datetime-local`, or to an empty string. */
export function toLocal(timestamp: string | undefined): string {
  if (!timestamp) return '';
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Converts a local date and time to a UTC timestamp, or undefined if it is empty or invalid. */
export function fromLocal(local: string): string | undefined {
  if (local === '') return undefined;
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The title of each setting at its control, in problems and in comparisons. */
export const settingTitles: Readonly<Record<SettingName, string>> = {
  access: 'Who can respond',
  password: 'Password',
  opens_at: 'Opens',
  closes_at: 'Closes',
  max_submissions: 'Response limit',
  closed_message: 'Message when closed',
  confirmation_message: 'Confirmation message',
  redirect_url: 'Redirect URL',
  confirmations: 'Conditional confirmations',
  notifications: 'Other emails',
  notification_email: 'Notify by email',
  notification_digest: 'Email frequency',
  receipt_email_element: 'Receipt for visitors',
  receipt_answers: 'Include answers in the receipt',
  save_progress: 'Save progress',
  resume_days: 'Days to resume',
  layout: 'Page layout',
  review_step: 'Check your answers',
  analytics: 'Count visits',
  editing: 'Editing',
  edit_days: 'Days to edit',
  min_seconds: 'Minimum time to fill in, in seconds',
  limit_per_address: 'Hourly limit per IP address',
  limit_per_form: 'Hourly limit',
  proof_of_work: 'Proof of work',
  subject_element: 'Subject',
  language: 'Language of answers',
  time_zone: 'Time zone',
  locale: 'Page language',
  translations: 'Translations',
  theme: 'Theme',
  embed_origins: 'Allowed sites',
};

/** Returns the title of a text in a conditional confirmation: `Title of confirmation 2`. */
export const sayConfirmationText = (name: ConfirmationText, confirmation: string): string =>
  `${name === 'title' ? 'Title' : 'Message'} of ${confirmation}`;

/** The title of each part of a theme. */
export const themeTitles: Readonly<Record<keyof Theme, string>> = {
  color: 'Color',
  background: 'Background',
  paper: 'Background',
  mode: 'Light or dark',
  font: 'Font',
  corner: 'Corners',
  density: 'Density',
  logo: 'Logo',
  logo_dark: 'Logo on dark pages',
  cover: 'Cover',
  submit_label: 'Submit button',
  confirmation_title: 'Confirmation title',
  short_reference: 'Short reference',
  favicon: 'Favicon',
  social_title: 'Link preview title',
  social_image: 'Link preview image',
};

export const accessChoices: readonly Choice<AccessMode>[] = [
  { id: 'public', label: 'Anyone with the link', description: 'Open while the form is published.' },
  { id: 'invited', label: 'Invited people', description: 'Each person needs an invitation.' },
  { id: 'password', label: 'Anyone with the password', description: 'The page asks for the password first.' },
  { id: 'closed', label: 'Closed', description: 'The page says that the form is closed.' },
];

export const digestChoices: readonly Choice<DigestMode>[] = [
  { id: 'each', label: 'Every submission' },
  { id: 'hourly', label: 'Hourly', description: 'One email for all new submissions.' },
  { id: 'daily', label: 'Daily', description: 'At 08:00 in the form’s time zone.' },
];

export const layoutChoices: readonly Choice<FormLayout>[] = [
  { id: 'page', label: 'One step at a time', description: 'Each step is a page with its questions.' },
  {
    id: 'question',
    label: 'One question at a time',
    description: 'Each question is a separate page, and Enter continues. Groups stay together.',
  },
];

/** Returns the view in which a setting is edited. */
export function viewOfSetting(name: keyof Settings): 'theme' | 'languages' | 'settings' {
  if (name === 'translations') return 'languages';
  return name === 'theme' || name === 'locale' ? 'theme' : 'settings';
}

/** A setting that prevents publishing, with the view where it is edited and its title there. */
export type SettingProblem = {
  /** The field as in the API: `closes_at`, `theme.color`. */
  readonly field: string;
  readonly view: ReturnType<typeof viewOfSetting>;
  readonly title: string;
  readonly message: string;
};

/** Lists every problem of the settings: the errors of the API, and password access without a password. */
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
  return errors.map(locate).filter((problem) => problem !== undefined);
}

/** Locates an API error at its control. Undefined if it is not about a setting. */
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

/** Focuses the control with this label. Titles are declared once, so that problems and labels match. */
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

/** Lists all differences between the settings of two forms, by the title of each setting. */
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

/** Returns the label of a choice on the screen. */
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
