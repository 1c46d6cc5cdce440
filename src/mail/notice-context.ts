import type { Database } from '#kit/database.ts';
import type { SmtpConfig } from '#kit/smtp.ts';
import type { Vault } from '#kit/vault.ts';

export type NoticeServices = {
  database: Database;
  vault: Vault;
  config: { publicUrl: string; smtp: SmtpConfig | undefined };
  wakeQueue: () => void;
};
