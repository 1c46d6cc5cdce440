/**
 * Returns the path to open after sign-in, as the router writes it (without /app). Rejects paths outside the
 * console, because a forged link to the sign-in page could contain one.
 */
export function readNextPath(next: unknown): string {
  if (typeof next !== 'string' || !/^\/(?![/\\])/.test(next)) return '/';
  return /^\/(sign-in|signed-in|second-step|second-factor|new-password|forgot-password|reset-password)\b/.test(
    next,
  )
    ? '/'
    : next;
}
