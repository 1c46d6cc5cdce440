import type { NewKey } from '#workspaces/keys/shapes.ts';

/** A command that works with a key of these permissions (undefined: all of them): reading where it may read. */
export function exampleCommand(apiKey: string, permissions: NewKey['permissions']): string {
  const may = (permission: NonNullable<NewKey['permissions']>[number]): boolean =>
    permissions === undefined || permissions.includes(permission);
  const base = `${window.location.origin}/api/v1`;
  const authorization = `-H "Authorization: Bearer ${apiKey}"`;
  if (may('forms:read')) return `curl ${base}/forms \\\n  ${authorization}`;
  if (may('submissions:read')) return `curl "${base}/submissions/search?q=hello" \\\n  ${authorization}`;
  const form = {
    type: 'form',
    attrs: { name: 'Hello' },
    children: [{ type: 'step', attrs: {}, children: [] }],
  };
  return [
    `curl ${base}/forms`,
    authorization,
    '-H "Content-Type: application/json"',
    `-d '${JSON.stringify({ structure: form })}'`,
  ].join(' \\\n  ');
}
