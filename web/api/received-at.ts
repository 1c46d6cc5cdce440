/**
 * When a submission was received: when it was completed; an incomplete one, when it was last saved, or, in lists that do
 * not have that, when it was started.
 */
export const receivedAt = (of: {
  created_at: string;
  completed_at?: string | null;
  updated_at?: string;
}): string => of.completed_at ?? of.updated_at ?? of.created_at;
