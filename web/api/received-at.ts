/**
 * Returns when a submission was received: when it was completed. For an incomplete one: when it was last
 * saved, or when it was started if a list has no save time.
 */
export const receivedAt = (of: {
  created_at: string;
  completed_at?: string | null;
  updated_at?: string;
}): string => of.completed_at ?? of.updated_at ?? of.created_at;
