import { leastIdAt, now } from '#kit/clock.ts';
import { type Database, homeOf } from '#kit/database.ts';
import { deleteOldMails } from '#mail/endpoints.ts';
import { deleteCountedEmails } from '#mail/sending/quota.ts';
import { deleteOldErasures } from '#people/erase/erase-person.ts';
import { forgetVisits } from '#submissions/analytics.ts';
import { deleteExpiredLinks } from '#submissions/links.ts';
import { deleteSpamBefore } from '#submissions/spam-endpoints.ts';
import { deleteOldLines } from '#workspaces/audit/audit-lines.ts';
import { deleteOldPersonalLines } from '#workspaces/audit/endpoints.ts';
import { keptMs, pruneRequests } from '#workspaces/idempotency.ts';
import { deleteExpiredResets } from '#workspaces/password-reset.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** Rows that are deleted by their age. */
type Expiring = {
  /** How often expired rows are looked for. */
  readonly pauseMs: number;
  /** The rows that one statement deletes at most; undefined: it deletes all. */
  readonly batch?: number;
  /** How long rows are kept; undefined: the row, its form or its workspace says so. */
  readonly keptMs?: number;
  /** @param before rows of an earlier moment have expired. */
  readonly remove: (database: Database, before: Date) => Promise<readonly unknown[]>;
};

/** What expires, by the tables. */
export const expiring = {
  held_submissions: {
    pauseMs: 600_000,
    batch: 500,
    keptMs: 30 * dayMs,
    remove: (database, before) => deleteSpamBefore(database, { before }),
  },
  submission_links: {
    pauseMs: 600_000,
    batch: 1_000,
    remove: (database, before) => deleteExpiredLinks(database, { now: before }),
  },
  repeatable_requests: {
    pauseMs: 600_000,
    keptMs,
    remove: (database, before) => pruneRequests(database, { kept_from: before }),
  },
  password_resets: {
    pauseMs: hourMs,
    remove: (database, before) => deleteExpiredResets(homeOf(database), { before }),
  },
  counted_emails: {
    pauseMs: hourMs,
    batch: 1_000,
    remove: (database) => deleteCountedEmails(database, {}),
  },
  mails: {
    pauseMs: hourMs,
    batch: 1_000,
    remove: (database, before) => deleteOldMails(database, { now: before }),
  },
  // Thirteen months, so that a month can be compared with the same one a year before.
  visit_counts: {
    pauseMs: hourMs,
    keptMs: 400 * dayMs,
    remove: (database, before) => forgetVisits(database, { before: before.toISOString().slice(0, 10) }),
  },
  audit_lines: {
    pauseMs: hourMs,
    batch: 1_000,
    remove: (database, before) => deleteOldLines(database, { now: before }),
  },
  person_lines: {
    pauseMs: hourMs,
    batch: 1_000,
    keptMs: 365 * dayMs,
    remove: (database, before) => deleteOldPersonalLines(homeOf(database), { before: leastIdAt(before) }),
  },
  // Receipts of erasures, for as long as the audit log that names them.
  erasures: {
    pauseMs: hourMs,
    batch: 1_000,
    remove: (database, before) => deleteOldErasures(database, { now: before, limit: 1_000 }),
  },
} as const satisfies Record<string, Expiring>;

/** Deletes the expired rows of a table, batch by batch. If it is interrupted, the next run continues. */
export async function deleteExpired(database: Database, table: keyof typeof expiring): Promise<void> {
  const { batch, keptMs: kept = 0, remove }: Expiring = expiring[table];
  const before = new Date(now().getTime() - kept);
  while ((await remove(database, before)).length === batch);
}
