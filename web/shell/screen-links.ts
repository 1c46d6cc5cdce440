import { type IconName } from '../design/icon.tsx';

export type ScreenLink = {
  /** The path after the URL of the workspace or form. */
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** The paths of other screens that belong to this one. */
  readonly screens?: readonly string[];
};

/** The screens of a workspace. Settings that only admins can open are marked. */
export const workspaceScreens: readonly (ScreenLink & { isSetting?: true; isAdministration?: true })[] = [
  { path: '/forms', label: 'Forms', icon: 'form' },
  { path: '/submissions', label: 'All submissions', icon: 'table' },
  { path: '/settings/general', label: 'General', icon: 'settings', isSetting: true },
  { path: '/settings/members', label: 'Members', icon: 'people', isSetting: true },
  { path: '/settings/keys', label: 'API keys', icon: 'key', isSetting: true, isAdministration: true },
  { path: '/settings/webhooks', label: 'Webhooks', icon: 'webhook', isSetting: true },
  { path: '/settings/mail', label: 'Email', icon: 'mail', isSetting: true, isAdministration: true },
  { path: '/settings/domains', label: 'Domains', icon: 'globe', isSetting: true, isAdministration: true },
  { path: '/settings/retention', label: 'Retention', icon: 'clock', isSetting: true, isAdministration: true },
  { path: '/settings/people', label: 'People', icon: 'people', isSetting: true, isAdministration: true },
  {
    path: '/settings/activity',
    label: 'Audit log',
    icon: 'history',
    isSetting: true,
    isAdministration: true,
  },
];

export const formScreens: readonly ScreenLink[] = [
  { path: '', label: 'Build', icon: 'edit' },
  { path: '/submissions', label: 'Submissions', icon: 'table', screens: ['/import', '/spam', '/trash'] },
  { path: '/summary', label: 'Summary', icon: 'summary' },
  { path: '/invitations', label: 'Invitations', icon: 'people' },
  { path: '/webhooks', label: 'Webhooks', icon: 'webhook' },
];
