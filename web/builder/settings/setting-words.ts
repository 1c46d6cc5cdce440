import type { AccessMode, DigestMode, FormLayout, SettingName, Settings } from '#ast/settings.ts';
import type { ConfirmationText } from '#ast/translations/setting-texts.ts';
import type { Theme } from '#ast/theme/theme.ts';
import type { Choice } from '../../design/select.tsx';

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
