import type { Operation } from '#kit/operation.ts';

type Route = { method: string; path: string; operation: Pick<Operation, 'permission' | 'isDestructive'> };

/**
 * Whether the audit log has a line for each run of an operation: whatever changes forms and administration, and what
 * takes data out or away. Submissions that come in and are worked on are not: they have histories of their own.
 * A dry run changes nothing, and has none.
 */
export function isNoted({ method, path, operation }: Route): boolean {
  if (path.endsWith('/export') || path.endsWith('/package')) return true;
  const [resource, deed] = operation.permission.split(':');
  if (method === 'GET' || deed !== 'write') return false;
  // It is saved a second after every key that is pressed; who published it is noted.
  if (path.endsWith('/draft')) return false;
  return operation.isDestructive || (resource !== 'submissions' && resource !== 'files');
}

/** Whether a run of an operation only says what it would do. */
export const isDryRun = (query: unknown): boolean =>
  (query as { dry_run?: unknown } | undefined)?.dry_run === 'true';
