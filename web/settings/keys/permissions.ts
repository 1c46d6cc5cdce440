import type { Key } from '#console/accounts/shapes.ts';
import type { Choice } from '../../design/select.tsx';

type Permission = NonNullable<Key['permissions']>[number];

/** In words: every permission that a key can be limited to. */
const words = {
  'forms:read': ['Read forms', 'List and read forms.'],
  'forms:write': ['Change forms', 'Create, change and delete forms.'],
  'submissions:read': ['Read submissions', 'List, read and search submissions.'],
  'invitations:read': ['Read invitations', 'List and read invitations.'],
  'invitations:write': ['Invite people', 'Invite people, remind them and revoke invitations.'],
} as const satisfies Record<Permission, readonly [name: string, description: string]>;

export const permissionChoices: readonly Choice<Permission>[] = (Object.keys(words) as Permission[]).map(
  (id) => ({
    id,
    label: words[id][0],
    description: words[id][1],
  }),
);

export const permissionName = (permission: Permission): string => words[permission][0];
