/**
 * Where to go after the sign-in: an address within the console (as the router writes it, without /app), never one
 * that a link to the sign-in page could have taken from elsewhere.
 */
export function readNext(next: unknown): string {
  if (typeof next !== 'string' || !/^\/(?![/\\])/.test(next)) return '/';
  return /^\/(sign-in|signed-in|second-step|second-factor|new-password|forgot-password|reset-password)\b/.test(
    next,
  )
    ? '/'
    : next;
}
