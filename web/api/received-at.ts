/**
 * Returns when a submission was received, which is when it was completed. For an incomplete one, it is when
 * it was last saved, or started if a list has no save time.
 */
export const receivedAt = (of: {
  created_at: string;
  completed_at?: string | null;
  updated_at?: string;
}): string => of.completed_at ?? of.updated_at ?? of.created_at;
