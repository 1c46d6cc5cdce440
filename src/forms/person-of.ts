import type { Scope } from '#kit/operation.ts';

/** The person who asks, for what says who did it; null for a key. */
export const personOf = ({ actor }: Pick<Scope, 'actor'>): string | null =>
  actor.kind === 'person' ? actor.id : null;
