import type { Actor } from '#kit/operation.ts';

/** Who did what a line tells of: whoever asked, or the service by itself, on a schedule that somebody set. */
export type LineActor = Actor['kind'] | 'service';
