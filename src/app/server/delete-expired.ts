import { leastIdAt, now } from '#kit/clock.ts';
import { type Database, sharedDatabaseOf } from '#kit/database.ts';
import { deleteOldMails } from '#mail/endpoints.ts';
import { deleteExpiredEmailCounts } from '#mail/sending/mail-limits.ts';
import { deleteOldErasures } from '#people/erase-person.ts';
import { deleteVisitsBefore } from '#submissions/analytics.ts';
import { deleteExpiredLinks } from '#submissions/links.ts';
import { deleteExpiredSpamBatch } from '#submissions/spam-endpoints.ts';
import { deleteExpiredResets } from '#workspaces/accounts/password-reset.ts';
import { deleteOldAuditEntries } from '#workspaces/audit/audit-entries.ts';
import { deleteOldAccountEvents } from '#workspaces/audit-endpoints.ts';
import { deleteExpiredIdempotencyKeys, idempotencyKeyMs } from '#workspaces/idempotency.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** A table whose rows are deleted by age. */
type Expiring = {
  /** The pause between two runs, in milliseconds. */
  readonly pauseMs: number;
  /** The maximum number of rows that one statement deletes; undefined if it deletes all of them. */
  readonly batch?: number;
  /** How long rows are kept; undefined if it depends on the row, its form or its workspace. */
  readonly keptMs?: number;
  /**
   * Deletes expired rows.
   * @param before rows that are older than this time have expired.
   */
  readonly remove: (database: Database, before: Date) => Promise<readonly unknown[]>;
};

/** The tables with rows that expire. */
export const expiringTables = {
  held_submissions: {
    pauseMs: 600_000,
    batch: 500,
    keptMs: 30 * dayMs,
    remove: (database, before) => deleteExpiredSpamBatch(database, { before }),
  },
  submission_links: {
    pauseMs: 600_000,
    batch: 1_000,
    remove: (database, before) => deleteExpiredLinks(database, { now: before }),
  },
  repeatable_requests: {
    pauseMs: 600_000,
    keptMs: idempotencyKeyMs,
    remove: (database, before) => deleteExpiredIdempotencyKeys(database, { kept_from: before }),
  },
  password_resets: {
    pauseMs: hourMs,
    remove: (database, before) => deleteExpiredResets(sharedDatabaseOf(database), { before }),
  },
  counted_emails: {
    pauseMs: hourMs,
    batch: 1_000,
    remove: (database) => deleteExpiredEmailCounts(database, {}),
  },
  mails: {
    pauseMs: hourMs,
    batch: 1_000,
    remove: (database, before) => deleteOldMails(database, { now: before }),
  },
  // Thirteen months, so that a month can be compared with the month a year before.
  visit_counts: {
    pauseMs: hourMs,
    keptMs: 400 * dayMs,
    remove: (database, before) => deleteVisitsBefore(database, { before: before.toISOString().slice(0, 10) }),
  },
  audit_lines: {
    pauseMs: hourMs,
    batch: 1_000,
    remove: (database, before) => deleteOldAuditEntries(database, { now: before }),
  },
  person_lines: {
    pauseMs: hourMs,
    batch: 1_000,
    keptMs: 365 * dayMs,
    remove: (database, before) =>
      deleteOldAccountEvents(sharedDatabaseOf(database), { before: leastIdAt(before) }),
  },
  // Receipts of erasures, kept as long as the audit log that refers to them.
  erasures: {
    pauseMs: hourMs,
    batch: 1_000,
    remove: (database, before) => deleteOldErasures(database, { now: before, limit: 1_000 }),
  },
} as const satisfies Record<string, Expiring>;

/** Deletes the expired rows of a table in batches. If it is interrupted, the next run continues. */
export async function deleteExpired(database: Database, table: keyof typeof expiringTables): Promise<void> {
  const { batch, keptMs: kept = 0, remove }: Expiring = expiringTables[table];
  const before = new Date(now().getTime() - kept);
  while ((await remove(database, before)).length === batch);
}
