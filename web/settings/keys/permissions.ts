import type { Key } from '#workspaces/keys/shapes.ts';
import type { Choice } from '../../design/select.tsx';

type Permission = NonNullable<Key['permissions']>[number];

/** In words: every permission that a key can be limited to. */
const words = {
  'forms:read': ['Read forms', 'List and read forms.'],
  'forms:write': ['Change forms', 'Create, change and delete forms.'],
  'submissions:read': ['Read submissions', 'List, read and search submissions.'],
  'submissions:write': ['Change submissions', 'Make, change, tag and remove submissions.'],
  'files:write': ['Upload files', 'Upload files for submissions.'],
  'invitations:read': ['Read invitations', 'List and read invitations.'],
  'invitations:write': ['Invite people', 'Invite people, remind them and revoke invitations.'],
  'events:read': ['Pull events', 'Pull the events that webhooks tell.'],
  'webhooks:read': ['Read webhooks', 'List webhooks and read their delivery logs.'],
  'webhooks:write': ['Change webhooks', 'Create, change and delete webhooks: they send data elsewhere.'],
  'members:read': ['Read members', 'List the members of the workspace.'],
  'members:write': ['Change members', 'Invite, change and remove members, owners excepted.'],
  'keys:read': ['Read API keys', 'List API keys and their latest requests.'],
  'keys:write': ['Change API keys', 'Create, change, rotate and revoke API keys.'],
  'workspace:read': ['Read the workspace', 'Read the workspace and its plan.'],
  'workspace:write': ['Change the workspace', 'Rename the workspace.'],
  'mail:read': ['Read the mail log', 'Read the log of mails.'],
  'mail:write': ['Send mails again', 'Send mails again and try the mail server.'],
  'audit:read': ['Read the audit log', 'Read who did what.'],
  'people:read': ['Find people', 'Find and export everything that is kept of a person.'],
  'people:write': [
    'Erase people',
    'Erase, for good, everything that is kept of a person, and of everybody what is over: by saying for how long it is kept.',
  ],
} as const satisfies Record<Permission, readonly [name: string, description: string]>;

export const permissionChoices: readonly Choice<Permission>[] = (Object.keys(words) as Permission[]).map(
  (id) => ({
    id,
    label: words[id][0],
    description: words[id][1],
  }),
);

export const permissionName = (permission: Permission): string => words[permission][0];
