import { statement } from '#kit/statement.ts';

/** Those whose time is over. */
export const deleteExpiredResets = statement(
  'password_reset.delete_expired',
  'before',
  '',
  `delete from password_resets where expires_at < $before`,
);
