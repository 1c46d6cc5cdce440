import type { Scope } from '#kit/operation.ts';

/**
 * Returns the scope of a person with every permission in a workspace, for tests that run an operation without
 * HTTP.
 */
export const scopeOf = (workspaceId: string): Scope => ({
  workspaceId,
  formIds: null,
  actor: { kind: 'operator', id: '' },
  may: () => true,
});
