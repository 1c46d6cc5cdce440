/**
 * What may be done with the data of a workspace. The specification gives a key full access to it ("Authentication", 4):
 * a key without a list of permissions has all of these, also those that come later (null in the database).
 */
const data = {
  'forms:read': 'List and read forms.',
  'forms:write': 'Create, change and delete forms.',
  'submissions:read': 'List, read and search submissions.',
  'submissions:write': 'Make, change, tag and remove submissions.',
  'files:write': 'Upload files.',
  'invitations:read': 'List and read invitations, without their personal links.',
  'invitations:write': 'Invite people, remind them, revoke invitations, and read their personal links.',
  'events:read': 'Pull the events that webhooks tell.',
} as const satisfies Record<string, string>;

/**
 * What changes who reaches the data, and where it goes. It is given by name or not at all, so that a key for data that
 * leaks cannot send them elsewhere: "webhooks are configured through the builder, not through this API".
 */
const administration = {
  'webhooks:read': 'List webhooks and read their delivery logs.',
  'webhooks:write': 'Create, change, test and delete webhooks, and send deliveries again.',
  'members:read': 'List the members of the workspace.',
  'members:write': 'Invite, change and remove members, owners excepted.',
  'keys:read': 'List API keys and their latest requests.',
  'keys:write': 'Create, change, rotate and revoke API keys.',
  'workspace:read': 'Read the workspace and its plan.',
  'workspace:write': 'Rename the workspace.',
  'mail:read': 'Read the log of mails.',
  'mail:write': 'Send mails again and try the mail server.',
  'audit:read': 'Read who did what.',
  'people:read': 'Find and export everything that is kept of a person.',
  'people:write':
    'Erase what is kept: of a person everything, and of everybody what is over, by saying for how long it is kept.',
} as const satisfies Record<string, string>;

/** Every permission with the sentence that says what it lets one do. */
export const permissions = { ...data, ...administration };

export type Permission = keyof typeof permissions;

/** Every permission, in the order of the table. */
export const permissionNames = Object.keys(permissions) as readonly Permission[];

export const isPermission = (name: string): name is Permission => Object.hasOwn(permissions, name);

/** What a key without a list may do. */
export const dataPermissions = Object.keys(data) as readonly Permission[];

/** Whether a key may do something; one without a list may do everything with data, and administer nothing. */
export const keyMay = (list: readonly Permission[] | null, permission: string): boolean =>
  isPermission(permission) && (list ?? dataPermissions).includes(permission);
