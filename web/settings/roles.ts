import type { Choice } from '../design/select.tsx';
import type { Role } from '#workspaces/shapes.ts';

/** Every role with what it may do, from least to most. */
const roleChoices: readonly Choice<Role>[] = [
  { id: 'viewer', label: 'Viewer', description: 'Reads forms and submissions.' },
  { id: 'editor', label: 'Editor', description: 'Forms, their submissions and their webhooks.' },
  { id: 'admin', label: 'Admin', description: 'Also members, API keys and settings.' },
  { id: 'owner', label: 'Owner', description: 'Everything, the other owners included.' },
];

/** The roles that somebody with this role may give: owners alone make owners. */
export const rolesToGive = (own: Role): readonly Choice<Role>[] =>
  own === 'owner' ? roleChoices : roleChoices.filter(({ id }) => id !== 'owner');

export const roleName = (role: Role): string => roleChoices.find(({ id }) => id === role)!.label;
