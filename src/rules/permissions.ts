/** What a person may do in a workspace, from most to least. The console shows the label and the sentence. */
export const roles = {
  owner: { label: 'Owner', description: 'Everything, including the other owners.' },
  admin: { label: 'Admin', description: 'Also members, API keys and settings.' },
  editor: { label: 'Editor', description: 'Forms, their submissions and their webhooks.' },
  viewer: { label: 'Viewer', description: 'Reads forms and submissions.' },
} as const satisfies Record<string, { label: string; description: string }>;

export type Role = keyof typeof roles;

/** Every role, from most to least. */
export const roleNames = Object.keys(roles) as readonly Role[];

type Row = {
  label: string;
  /** What it allows, in one sentence. */
  description: string;
  /** The least role that includes it. */
  role: Role;
};

/**
 * What may be done with the data of a workspace. The specification gives a key full access to it ("Authentication", 4): a key
 * without a list of permissions has all of these, also those that are added later (null in the database).
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
    description: 'Create, change, tag and delete submissions.',
    role: 'editor',
  },
  'files:write': { label: 'Upload files', description: 'Upload files for submissions.', role: 'editor' },
  'invitations:read': {
    label: 'Read invitations',
    description: 'List and read invitations, without their personal links.',
    role: 'viewer',
  },
  'invitations:write': {
    label: 'Invite people',
    description: 'Invite people, remind them, revoke invitations, and read their personal links.',
    role: 'editor',
  },
  'events:read': {
    label: 'Pull events',
    description: 'Pull the events that webhooks send.',
    role: 'viewer',
  },
} as const satisfies Record<string, Row>;

/**
 * What decides who reaches the data, and where it is sent. A key has it by name only, so that a leaked key for data cannot
 * send the data elsewhere: "webhooks are configured through the builder, not through this API".
 */
const administration = {
  'webhooks:read': {
    label: 'Read webhooks',
    description: 'List webhooks and read their delivery logs.',
    role: 'viewer',
  },
  'webhooks:write': {
    label: 'Change webhooks',
    description: 'Create, change, test and delete webhooks, and send deliveries again.',
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
    description: 'List API keys and their latest requests.',
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
  'workspace:write': { label: 'Change the workspace', description: 'Rename the workspace.', role: 'admin' },
  'mail:read': { label: 'Read the email log', description: 'Read the log of emails.', role: 'admin' },
  'mail:write': {
    label: 'Send emails again',
    description: 'Send emails again and test the mail server.',
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
    description: 'Erase all data of one person, and set for how long data is kept.',
    role: 'admin',
  },
} as const satisfies Record<string, Row>;

/** Every permission. */
export const permissions = { ...data, ...administration };

export type Permission = keyof typeof permissions;

/** Every permission, in the order of the table. */
export const permissionNames = Object.keys(permissions) as readonly Permission[];

export const isPermission = (name: string): name is Permission => Object.hasOwn(permissions, name);

/** The permissions of a key without a list. */
export const dataPermissions = Object.keys(data) as readonly Permission[];

/** Whether a key has a permission. A key without a list has all permissions for data, and none for administration. */
export const keyMay = (list: readonly Permission[] | null, permission: string): boolean =>
  isPermission(permission) && (list ?? dataPermissions).includes(permission);

/** No key has this: only a signed-in owner adds, changes and removes owners. */
export type PersonalPermission = 'members:owners';

/** The least role that has a permission. */
export const leastRoleFor = (permission: Permission | PersonalPermission): Role =>
  permission === 'members:owners' ? 'owner' : permissions[permission].role;

/** Whether a role has a permission. */
export const roleMay = (role: Role, permission: string): boolean =>
  (permission === 'members:owners' || isPermission(permission)) &&
  roleNames.indexOf(role) <= roleNames.indexOf(leastRoleFor(permission));

/** The roles that a member with this role may assign, from least to most: only owners assign `owner`. */
export const assignableRoles = (own: Role): readonly { id: Role; label: string; description: string }[] =>
  roleNames
    .filter((id) => own === 'owner' || id !== 'owner')
    .map((id) => ({ id, ...roles[id] }))
    .toReversed();

/** The short name of a permission, for lists. */
export const permissionLabel = (permission: Permission): string => permissions[permission].label;

/** Every permission, for a list to choose from. */
export const permissionChoices: readonly { id: Permission; label: string; description: string }[] =
  permissionNames.map((id) => ({
    id,
    label: permissions[id].label,
    description: permissions[id].description,
  }));
