import type { MailKind } from '#mail/shapes.ts';

/** What a mail is for, in a word or two. */
export const kindWords: Readonly<Record<MailKind, string>> = {
  notification: 'Notification',
  digest: 'Digest',
  receipt: 'Receipt',
  resume_link: 'Link to continue',
  invitation: 'Invitation',
  reminder: 'Reminder',
  member_invitation: 'Member invitation',
  password_reset: 'Password reset',
  security_notice: 'Security notice',
  incident: 'Something is wrong',
  announcement: 'Announcement',
  test: 'Test',
};
