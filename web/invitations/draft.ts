import type { InvitationsOverview, MessageBody } from './invitations-query.ts';

/** What is typed on the screen that invites. */
export type Draft = Omit<InvitationsOverview['message'], 'remind_after_days'> & {
  /** Numbers of days between commas. */
  reminderDays: string;
  /** A day as `<input type="date">` has it; '' for no end. */
  expires: string;
  isMailed: boolean;
};

/** The same as the service is told. What is no list of days is sent as 0, which it refuses in words. */
export function messageOf(draft: Draft): MessageBody {
  const days = draft.reminderDays.trim();
  return {
    subject: draft.subject,
    message: draft.message,
    ...(draft.reminder_subject && { reminder_subject: draft.reminder_subject }),
    ...(draft.reminder_message && { reminder_message: draft.reminder_message }),
    remind_after_days:
      days === '' ? [] : days.split(/[\s,;]+/).map((day) => (/^\d{1,3}$/.test(day) ? Number(day) : 0)),
    // The link works on its last day, wherever the person is.
    ...(draft.expires !== '' && { expires_at: new Date(`${draft.expires}T23:59:59`).toISOString() }),
    send: draft.isMailed,
  };
}
