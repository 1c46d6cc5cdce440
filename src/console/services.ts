import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';
import type { Accounts } from '#workspaces/accounts.ts';
import type { AuditLog } from '#workspaces/audit/audit-log.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';

/** What the console's own operations may need. */
export type ConsoleServices = {
  accounts: Accounts;
  config: Config;
  database: Database;
  vault: Vault;
  requestCounter: RequestCounter;
  auditLog: Pick<AuditLog, 'noteLater'>;
  wakeQueue: () => void;
};
