import { ApiError } from '#kit/errors.ts';
import { permissionNames } from '#workspaces/permissions.ts';

/** Groups of tools: what their permissions begin with. */
export const toolGroups: readonly string[] = [
  ...new Set(permissionNames.map((permission) => permission.split(':')[0]!)),
];

/**
 * Reads which groups of tools are wanted, `forms,webhooks`.
 * @throws ApiError bad_request for one that there is not.
 */
export function readGroups(text: string | undefined): string[] | undefined {
  const groups = text?.split(',').map((name) => name.trim());
  const unknown = groups?.find((name) => !toolGroups.includes(name));
  if (unknown !== undefined)
    throw new ApiError('bad_request', `There are no tools "${unknown}". There are ${toolGroups.join(', ')}.`);
  return groups;
}
