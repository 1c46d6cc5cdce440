import type { Database } from '#kit/database.ts';
import type { SmtpConfig } from '#kit/smtp.ts';
import type { Vault } from '#kit/vault.ts';

export type NoticeServices = {
  database: Database;
  vault: Vault;
  config: { publicUrl: string; smtp: SmtpConfig | undefined };
  wakeQueue: () => void;
};

/** Formats a time for an email. It includes the time zone, because the reader may be in another. */
export const formatEmailTime = (date: Date, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone }).format(date) +
  ` (${timeZone})`;
