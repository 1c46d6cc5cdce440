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

/** What each setting is called: at its control, in problems and in comparisons. */
export const settingTitles: Readonly<Record<SettingName, string>> = {
  access: 'Who may fill it in',
  password: 'Password',
  opens_at: 'Opens',
  closes_at: 'Closes',
  max_submissions: 'Most submissions',
  closed_message: 'Message when it is closed',
  confirmation_message: 'Confirmation message',
  redirect_url: 'Redirect to',
  confirmations: 'Other confirmations',
  notifications: 'Other mails',
  notification_email: 'Notify by email',
  notification_digest: 'Mail them',
  receipt_email_element: 'Receipt for visitors',
  receipt_answers: 'Repeat the answers in the receipt',
  save_progress: 'Save progress',
  resume_days: 'Days to go on',
  layout: 'How it asks',
  review_step: 'Check your answers',
  analytics: 'Count visits',
  editing: 'Editing',
  edit_days: 'Days to edit',
  min_seconds: 'Shortest time to fill in, in seconds',
  limit_per_address: 'Most from one address in an hour',
  limit_per_form: 'Most in an hour',
  proof_of_work: 'Proof of work',
  subject_element: 'Subject',
  language: 'Language of the answers',
  time_zone: 'Time zone',
  locale: 'Language of the page',
  translations: 'Translations',
  theme: 'Theme',
  embed_origins: 'Sites that may show and send it',
};

/** What a text of a confirmation by condition is called: `Title of confirmation 2`. */
export const sayConfirmationText = (name: ConfirmationText, confirmation: string): string =>
  `${name === 'title' ? 'Title' : 'Message'} of ${confirmation}`;

/** The same of each part of a theme. */
export const themeTitles: Readonly<Record<keyof Theme, string>> = {
  color: 'Colour',
  background: 'Background',
  paper: 'Paper',
  mode: 'Light or dark',
  font: 'Font',
  corner: 'Corners',
  density: 'Density',
  logo: 'Logo',
  logo_dark: 'Logo on dark pages',
  cover: 'Cover',
  submit_label: 'Submit button',
  confirmation_title: 'Title of the confirmation',
  short_reference: 'Short reference',
  favicon: 'Icon of the tab',
  social_title: 'Title of links',
  social_image: 'Picture of links',
};

export const accessChoices: readonly Choice<AccessMode>[] = [
  { id: 'public', label: 'Everybody with the link', description: 'The form is open while it is published.' },
  { id: 'invited', label: 'Invited people', description: 'Each needs an invitation of their own.' },
  { id: 'password', label: 'Whoever knows the password', description: 'The page asks for it first.' },
  { id: 'closed', label: 'Nobody for now', description: 'The page says that the form is closed.' },
];

export const digestChoices: readonly Choice<DigestMode>[] = [
  { id: 'each', label: 'For each submission' },
  { id: 'hourly', label: 'Once an hour', description: 'One mail for all of them.' },
  { id: 'daily', label: 'Once a day', description: 'At 08:00 in the time zone of the form.' },
];

export const layoutChoices: readonly Choice<FormLayout>[] = [
  { id: 'page', label: 'A step at a time', description: 'Each step is a page with its questions.' },
  {
    id: 'question',
    label: 'One question at a time',
    description: 'Each question is a page of its own, and Enter goes on. A group stays together.',
  },
];

/** The view in which a setting is changed. */
export function viewOfSetting(name: keyof Settings): 'theme' | 'languages' | 'settings' {
  if (name === 'translations') return 'languages';
  return name === 'theme' || name === 'locale' ? 'theme' : 'settings';
}

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
