/**
 * Every kind of mail, and how it is paced: `bulk` goes to many at once and may take its time, `prompt` is waited for.
 * A mail of one pace never waits behind those of the other.
 */
export const mailPaces = {
  notification: 'prompt',
  digest: 'prompt',
  receipt: 'prompt',
  resume_link: 'prompt',
  invitation: 'bulk',
  reminder: 'bulk',
  member_invitation: 'prompt',
  password_reset: 'prompt',
  security_notice: 'prompt',
  incident: 'prompt',
  announcement: 'bulk',
  test: 'prompt',
} as const satisfies Record<string, 'prompt' | 'bulk'>;

export type MailKind = keyof typeof mailPaces;

/** The kind of the jobs that send; the job's id is the mail's. */
export const sendMailJob = 'send_mail';

/** One lane for each pace: a process has one mail of a lane under way, so a crash repeats no more than that one. */
export const laneOfMail = (kind: MailKind): string => `mail ${mailPaces[kind]}`;
