import type { Permission } from './permissions.ts';

/** What a person may do in a workspace, from most to least. */
const roles = {
  owner: 'Everything, the other owners included.',
  admin: 'Everything but the owners.',
  editor: 'Forms, their submissions and their webhooks.',
  viewer: 'Reads forms and submissions.',
} as const satisfies Record<string, string>;

export type Role = keyof typeof roles;

/** Every role, in the order of the table. */
export const roleNames = Object.keys(roles) as readonly Role[];

/** Whether a role may do what takes at least `least`. */
const isAtLeast = (role: Role, least: Role): boolean => roleNames.indexOf(role) <= roleNames.indexOf(least);

/** What no key is given: only a person makes, changes and removes owners. */
export type PersonalPermission = 'members:owners';

const leastRole: Readonly<Record<Permission | PersonalPermission, Role>> = {
  'forms:read': 'viewer',
  'forms:write': 'editor',
  'submissions:read': 'viewer',
  'submissions:write': 'editor',
  'files:write': 'editor',
  'invitations:read': 'viewer',
  'invitations:write': 'editor',
  'events:read': 'viewer',
  'webhooks:read': 'viewer',
  'webhooks:write': 'editor',
  'members:read': 'viewer',
  'members:write': 'admin',
  'members:owners': 'owner',
  'keys:read': 'admin',
  'keys:write': 'admin',
  'workspace:read': 'viewer',
  'workspace:write': 'admin',
  'mail:read': 'admin',
  'mail:write': 'admin',
  'audit:read': 'admin',
  'people:read': 'admin',
  'people:write': 'admin',
};

/** Whether a role is a set of permissions that has this one. */
export const roleMay = (role: Role, permission: string): boolean =>
  Object.hasOwn(leastRole, permission) && isAtLeast(role, leastRole[permission as Permission]);

/** The least role that may do something, for the sentence that refuses. */
export const leastRoleFor = (permission: Permission): Role => leastRole[permission];
