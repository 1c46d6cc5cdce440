import { createHash } from 'node:crypto';
import { findInAllCells, runInCellOf } from '#cells/across-cells.ts';
import { deriveId, now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMails, type NewMail } from '#kit/outbox.ts';
import { announceJobsWithCommit } from '#kit/queue.ts';
import { statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';

/**
 * Selects the owners of workspaces with an active API key. An owner of several workspaces is listed once,
 * with the first of them.
 */
const selectKeyOwners = statement('now', 'user_id email name workspace_id')`
  /* operator: across workspaces */
  select distinct on (u.id) u.id as user_id, u.email, u.name, m.workspace_id
    from members m
    join users u on u.id = m.user_id
   where m.role = 'owner'
     and exists (select from api_keys k
                  where k.workspace_id = m.workspace_id and k.revoked_at is null
                    and (k.expires_at is null or k.expires_at > $now))
   order by u.id, m.workspace_id`;

const selectAnnounced = statement('announcement', 'user_id')`
  select user_id from announced where announcement = $announcement`;

/**
 * Records who gets an announcement. @returns the people who were not recorded yet: of two parallel runs, only
 * one gets each person.
 */
const insertAnnounced = statement('announcement user_ids:texts now', 'user_id')`
  insert into announced (announcement, user_id, announced_at)
  select $announcement, user_id, $now from unnest($user_ids) as person (user_id)
  on conflict (announcement, user_id) do nothing
  returning user_id`;

type Announcement = { subject: string; text: string };

type AnnouncementRecipient = { email: string; name: string; workspace_id: string };

type Audience = Awaited<ReturnType<typeof selectKeyOwners>>;

const digestOf = ({ subject, text }: Announcement): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([subject, text]))
    .digest();

/**
 * Finds the owners of API keys (specification, "Versioning" 3) who have not received the announcement yet.
 */
export async function findAudience(database: Database, announcement: Announcement): Promise<Audience> {
  const [owners, recipients] = await Promise.all([
    findInAllCells(database, (cells) => selectKeyOwners(cells, { now: now() })),
    selectAnnounced(database, { announcement: digestOf(announcement) }),
  ]);
  // A person who owns workspaces on several servers is found on each of them.
  const seen = new Set(recipients.map(({ user_id }) => user_id));
  return owners.filter(({ user_id }) => !seen.has(user_id) && seen.add(user_id));
}

/**
 * Emails an announcement to the owners of API keys, once each, even if an aborted run is repeated or two run
 * in parallel.
 * @returns the people whom this run emailed.
 */
export async function announceByEmail(
  { database, vault, publicUrl }: { database: Database; vault: Vault; publicUrl: string },
  announcement: Announcement,
): Promise<AnnouncementRecipient[]> {
  const audience = await findAudience(database, announcement);
  const mailed: AnnouncementRecipient[] = [];
  // One transaction for each workspace. On another server its emails are committed before their recipients
  // are recorded here. Their ids are derived, so a repeated run writes identical emails.
  for (const [workspaceId, owners] of Map.groupBy(audience, ({ workspace_id }) => workspace_id))
    await transaction(database, async (client) => {
      const added = await insertAnnounced(client, {
        announcement: digestOf(announcement),
        user_ids: owners.map(({ user_id }) => user_id),
        now: now(),
      });
      const ids = new Set(added.map(({ user_id }) => user_id));
      const recipients = owners.filter(({ user_id }) => ids.has(user_id));
      const mails = recipients.flatMap((recipient) => mailTo(recipient, announcement, publicUrl));
      await runInCellOf(client, workspaceId, async (cell) => {
        await enqueueMails(cell, vault, { workspaceId, isPrivate: true }, mails);
        await announceJobsWithCommit(cell);
      });
      mailed.push(...recipients.map(({ email, name, workspace_id }) => ({ email, name, workspace_id })));
    });
  return mailed;
}

function mailTo(
  { email, user_id }: Audience[number],
  announcement: Announcement,
  publicUrl: string,
): NewMail[] {
  const { subject, text } = announcement;
  const to = readMailAddress(email);
  if (!to) return [];
  const letter = {
    heading: subject,
    blocks: [{ kind: 'text', text }],
    reason: `You're receiving this email because you own a workspace with API keys at ${publicUrl}.`,
  } as const;
  const id = deriveId('announcement', digestOf(announcement).toString('hex'), user_id);
  return [{ id, kind: 'announcement', to, subject, letter }];
}
