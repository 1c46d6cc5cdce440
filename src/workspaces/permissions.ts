/**
 * What an API key may be limited to, and the sentence that says so.
 * The specification gives a key full access ("Authentication", 4) and names 403 for a key that lacks a permission
 * (5): a key without a list of permissions has all of them, also those that come later (null in the database).
 */
export const permissions = {
  'forms:read': 'List and read forms.',
  'forms:write': 'Create, change and delete forms.',
  'submissions:read': 'List, read and search submissions.',
  'invitations:read': 'List and read invitations, with their personal links.',
  'invitations:write': 'Invite people, remind them, and revoke invitations.',
} as const satisfies Record<string, string>;

export type Permission = keyof typeof permissions;

/** Every permission, in the order of the table. */
export const permissionNames = Object.keys(permissions) as readonly Permission[];

export const isPermission = (name: string): name is Permission => Object.hasOwn(permissions, name);
