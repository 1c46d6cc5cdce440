import type { Tone } from '../design/message.tsx';
import type { InvitationStatus } from './invitations-query.ts';

/** What each status is called, its colour, and what it means. */
export const statuses = {
  pending: ['Pending', 'plain', 'Not mailed yet.'],
  sent: ['Sent', 'info', 'The mail has left.'],
  bounced: ['Bounced', 'bad', 'The mail could not be delivered.'],
  opened: ['Opened', 'info', 'The form was opened by the personal link.'],
  started: ['Started', 'warn', 'Something was sent from the form, and not all.'],
  completed: ['Completed', 'good', 'The answers are there.'],
  revoked: ['Revoked', 'plain', 'The link leads nowhere any more.'],
} as const satisfies Record<InvitationStatus, readonly [word: string, tone: Tone | 'plain', meaning: string]>;

/** In the order in which an invitation goes through them. */
export const statusOrder = Object.keys(statuses) as readonly InvitationStatus[];
