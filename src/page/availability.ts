import type { LiveForm } from '#forms/live-form.ts';
import { ApiError } from '#kit/errors.ts';

/**
 * Whether a form takes submissions now; if not, why, as the error to answer with. A form that was never published
 * is as absent as one that does not exist (404); one that was and no longer is, is gone (410; DESIGN 4.5).
 */
export function closedReason(live: LiveForm | undefined, now: Date): ApiError | undefined {
  if (!live || (live.status === 'draft' && !live.wasPublished))
    return new ApiError('not_found', 'There is no form at this address.');
  if (live.status !== 'published')
    return new ApiError('gone', 'This form is closed and takes no more submissions.');
  const { access = 'public', opens_at, closes_at } = live.settings;
  if (access === 'closed') return new ApiError('gone', 'This form is closed and takes no more submissions.');
  if (opens_at && now < new Date(opens_at)) return new ApiError('forbidden', 'This form is not open yet.');
  if (closes_at && now >= new Date(closes_at))
    return new ApiError('gone', 'This form is closed and takes no more submissions.');
  // Invited and password-protected forms admit nobody until invitations and passwords can be checked.
  if (access !== 'public') return new ApiError('forbidden', 'This form is open to invited people only.');
  return undefined;
}
