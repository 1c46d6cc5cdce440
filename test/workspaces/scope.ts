import type { RequestScope } from '#kit/operation.ts';

/**
 * Returns the scope of a person with every permission in a workspace, for tests that run an operation without
 * HTTP.
 */
export const scopeOf = (workspaceId: string): RequestScope => ({
  workspaceId,
  formIds: null,
  actor: { kind: 'operator', id: '' },
  may: () => true,
});
