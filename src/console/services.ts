import type { FileLinks } from '#files/link.ts';
import type { LiveForms } from '#forms/live-form.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import type { Storage } from '#kit/storage.ts';
import type { Vault } from '#kit/vault.ts';
import type { Accounts } from '#workspaces/accounts.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';

/** What the console's endpoints may need; a slice takes only its part of it. */
export type ConsoleServices = {
  accounts: Accounts;
  config: Config;
  log: Log;
  database: Database;
  vault: Vault;
  storage: Storage;
  links: FileLinks;
  liveForms: LiveForms;
  requestCounter: RequestCounter;
  wakeQueue: () => void;
};
