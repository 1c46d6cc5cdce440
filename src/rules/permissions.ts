/** The roles of a workspace, from most to fewest permissions. The console shows their texts. */
export const roles = {
  owner: { label: 'Owner', description: 'Can do everything, also manage owners.' },
  admin: { label: 'Admin', description: 'Can also manage members, API keys and settings.' },
  editor: { label: 'Editor', description: 'Can edit forms, submissions and webhooks.' },
  viewer: { label: 'Viewer', description: 'Can view forms and submissions.' },
} as const satisfies Record<string, { label: string; description: string }>;

export type Role = keyof typeof roles;

export const roleNames = Object.keys(roles) as readonly Role[];

type Row = {
  label: string;
  description: string;
  /** The lowest role that has this permission. */
  role: Role;
};

/**
 * The permissions for the data of a workspace. The specification gives an API key full access to it
 * ("Authentication", 4). Therefore a key without a list (null in the database) has all of these, including
 * permissions added later.
 */
const data = {
  'forms:read': { label: 'Read forms', description: 'List and read forms.', role: 'viewer' },
  'forms:write': { label: 'Change forms', description: 'Create, change and delete forms.', role: 'editor' },
  'submissions:read': {
    label: 'Read submissions',
    description: 'List, read and search submissions.',
    role: 'viewer',
  },
  'submissions:write': {
    label: 'Change submissions',
    description: 'Create, change, tag, assign and delete submissions.',
    role: 'editor',
  },
  'files:write': { label: 'Upload files', description: 'Upload files for submissions.', role: 'editor' },
  'invitations:read': {
    label: 'Read invitations',
    description: 'List and read invitations, without personal links.',
    role: 'viewer',
  },
  'invitations:write': {
    label: 'Invite people',
    description: 'Create, remind and revoke invitations, and read their personal links.',
    role: 'editor',
  },
  'events:read': { label: 'Pull events', description: 'Pull the events that webhooks send.', role: 'viewer' },
} as const satisfies Record<string, Row>;

/**
 * The permissions that decide who can access the data and where it is sent. An API key must list them by
 * name, so that a leaked data key cannot send the data elsewhere: "webhooks are configured through the
 * builder, not through this API".
 */
const administration = {
  'webhooks:read': {
    label: 'Read webhooks',
    description: 'List webhooks and read their delivery logs.',
    role: 'viewer',
  },
  'webhooks:write': {
    label: 'Change webhooks',
    description: 'Create, change, test and delete webhooks, and resend deliveries.',
    role: 'editor',
  },
  'members:read': {
    label: 'Read members',
    description: 'List the members of the workspace.',
    role: 'viewer',
  },
  'members:write': {
    label: 'Change members',
    description: 'Invite, change and remove members, except owners.',
    role: 'admin',
  },
  'keys:read': {
    label: 'Read API keys',
    description: 'List API keys and their recent requests.',
    role: 'admin',
  },
  'keys:write': {
    label: 'Change API keys',
    description: 'Create, change, rotate and revoke API keys.',
    role: 'admin',
  },
  'workspace:read': {
    label: 'Read the workspace',
    description: 'Read the workspace and its plan.',
    role: 'viewer',
  },
  'workspace:write': {
    label: 'Change the workspace',
    description: 'Rename the workspace, and change its stages and domains.',
    role: 'admin',
  },
  'mail:read': { label: 'Read the email log', description: 'Read the log of emails.', role: 'admin' },
  'mail:write': {
    label: 'Resend emails',
    description: 'Resend emails and test the mail server.',
    role: 'admin',
  },
  'audit:read': { label: 'Read the audit log', description: 'Read the audit log.', role: 'admin' },
  'people:read': {
    label: 'Find people',
    description: 'Find and export all data of one person.',
    role: 'admin',
  },
  'people:write': {
    label: 'Erase people',
    description: 'Erase all data of one person, and change how long data is kept.',
    role: 'admin',
  },
} as const satisfies Record<string, Row>;

export const permissions = { ...data, ...administration };

export type Permission = keyof typeof permissions;

/** The names of all permissions, in the order of the table. */
export const permissionNames = Object.keys(permissions) as readonly Permission[];

export const isPermission = (name: string): name is Permission => Object.hasOwn(permissions, name);

/** The permissions of a key without a list. */
export const dataPermissions = Object.keys(data) as readonly Permission[];

/** Returns whether a key has a permission. A key without a list has only the data permissions. */
export const keyMay = (list: readonly Permission[] | null, permission: string): boolean =>
  isPermission(permission) && (list ?? dataPermissions).includes(permission);

/** A permission that API keys cannot have: only a signed-in owner can add, change and remove owners. */
export type PersonalPermission = 'members:owners';

/** Returns the lowest role with a permission. */
export const leastRoleFor = (permission: Permission | PersonalPermission): Role =>
  permission === 'members:owners' ? 'owner' : permissions[permission].role;

export const roleMay = (role: Role, permission: string): boolean =>
  (permission === 'members:owners' || isPermission(permission)) &&
  roleNames.indexOf(role) <= roleNames.indexOf(leastRoleFor(permission));

/** Lists the roles that a member can assign, from lowest to highest. Only owners can assign `owner`. */
export const assignableRoles = (own: Role): readonly { id: Role; label: string; description: string }[] =>
  roleNames
    .filter((id) => own === 'owner' || id !== 'owner')
    .map((id) => ({ id, ...roles[id] }))
    .toReversed();

/** Returns the short name of a permission, for lists. */
export const permissionLabel = (permission: Permission): string => permissions[permission].label;

/** All permissions, for a selection list. */
export const permissionChoices: readonly { id: Permission; label: string; description: string }[] =
  permissionNames.map((id) => ({
    id,
    label: permissions[id].label,
    description: permissions[id].description,
  }));
