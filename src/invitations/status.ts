/**
 * How far an invitation has come, from the first to the last: `pending`: not mailed; `sent`; `bounced`: its last mail
 * could not be delivered; `opened`: its link was; `started`: something was sent from its page; `completed`: its
 * submission is there; `revoked`: its link leads nowhere. The furthest that is true counts (queries.ts).
 */
export const invitationStatuses = [
  'pending',
  'sent',
  'bounced',
  'opened',
  'started',
  'completed',
  'revoked',
] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];
