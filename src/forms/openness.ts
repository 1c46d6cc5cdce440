import { now } from '#kit/clock.ts';
import type { LiveForm } from './live-form.ts';

/**
 * Why a form takes nothing from anybody, by its status and its times; undefined: it does. One that was never published
 * is as absent as one that does not exist (docs/rules.md 5).
 */
export function findClosure(live: LiveForm | undefined): 'absent' | 'closed' | 'early' | undefined {
  if (!live || (live.status === 'draft' && !live.wasPublished)) return 'absent';
  const { access, opens_at, closes_at } = live.settings;
  if (live.status !== 'published' || access === 'closed') return 'closed';
  const at = now();
  if (opens_at && at < new Date(opens_at)) return 'early';
  return closes_at && at >= new Date(closes_at) ? 'closed' : undefined;
}

/** What somebody is told whom a form refuses so; a visitor reads the author's own words where there are some. */
export const closures = {
  absent: ['not_found', 'There is no form at this address.'],
  closed: ['gone', 'This form is closed and takes no more submissions.'],
  early: ['forbidden', 'This form is not open yet.'],
} as const;
