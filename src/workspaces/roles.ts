/** What a person may do in a workspace, from most to least. */
export const roles = {
  owner: 'Everything, the other owners included.',
  admin: 'Everything but the owners.',
  editor: 'Forms, their submissions and their webhooks.',
  viewer: 'Reads forms and submissions.',
} as const satisfies Record<string, string>;

export type Role = keyof typeof roles;

/** Every role, in the order of the table. */
export const roleNames = Object.keys(roles) as readonly Role[];

export const isRole = (name: string): name is Role => Object.hasOwn(roles, name);

/** Whether a role may do what takes at least `least`. */
export const isAtLeast = (role: Role, least: Role): boolean =>
  roleNames.indexOf(role) <= roleNames.indexOf(least);
