import type { Scope } from '#kit/operation.ts';

/** Whoever may do everything in a workspace, for tests that run an operation without its way over the wire. */
export const scopeOf = (workspaceId: string): Scope => ({
  workspaceId,
  formIds: null,
  actor: { kind: 'operator', id: '' },
  may: () => true,
});
