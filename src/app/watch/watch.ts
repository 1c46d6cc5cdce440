import { inCellOf } from '#cells/across-cells.ts';
import { idOf } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { announceWithCommit } from '#kit/queue.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMails, type NewMail } from '#kit/outbox.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { firstWorkspace } from '#workspaces/mail-news.ts';
import { findIncidents, type Incident, type WatchContext } from './find-incidents.ts';

/** Notes that these are wrong now. @returns whether somebody was told of it. */
const noteIncidents = statement(
  'watch.note_incidents',
  'keys',
  'key:text is_told:boolean',
  `insert into incidents (key, began_at, seen_at, is_told)
   select key, now(), now(), false from unnest($keys) as key order by key
   on conflict (key) do update set seen_at = excluded.seen_at
   returning key, is_told`,
);

/** Takes it upon the caller to tell of these: of several processes at the same time each falls to one. @returns them, and since when it is so. */
const takeIncidents = statement(
  'watch.take_incidents',
  'keys',
  'key:text began_at:timestamp',
  `with untold as (
     select key from incidents where key = any ($keys) and not is_told order by key for update)
   update incidents set is_told = true from untold where incidents.key = untold.key
   returning incidents.key, began_at`,
);

/** Ends those that nobody has seen for so many seconds. */
const endIncidents = statement(
  'watch.end_incidents',
  'calm:double',
  'key:text',
  `delete from incidents where seen_at < now() - make_interval(secs => $calm) returning key`,
);

const selectOwners = statement(
  'watch.select_owners',
  'workspace_id',
  'email',
  `select u.email from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and m.role = 'owner' order by u.id`,
);

type Context = WatchContext & { log: Log; vault: Vault; wakeQueue: () => void };

/** What comes and goes within this time is one incident. */
const calmSeconds = 600;

/**
 * Looks whether something is wrong that somebody should know of. What is new is one line of warning and one mail, over all
 * processes once; it is told again only after it was over for a while.
 */
export async function watch(context: Context, calm = calmSeconds): Promise<void> {
  const { database, log } = context;
  const looks = await findIncidents(context);
  const found = looks.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const noted = await noteIncidents(database, { keys: found.map(({ key }) => key) });
  const isUntold = new Set(noted.filter((each) => !each.is_told).map(({ key }) => key));
  const incidents = found.filter(({ key }) => isUntold.has(key));
  // A mail in another cell is committed before it is noted that it was sent: a failure concerns one workspace.
  const fresh: Incident[] = [];
  for (const group of Map.groupBy(incidents, ({ workspaceId }) => workspaceId).values())
    fresh.push(...(await tell(context, group)));
  for (const { key, what, remedy, workspaceId } of fresh)
    log.warn({ incident: key, workspace_id: workspaceId, remedy }, what);
  if (fresh.length > 0) context.wakeQueue();
  const failed = looks.find((each) => each.status === 'rejected');
  // Whether what was not looked at is over nobody knows.
  if (failed) throw failed.reason;
  for (const { key } of await endIncidents(database, { calm }))
    log.info({ incident: key }, 'an incident is over');
}

/** Mails what nobody has told of. @returns that. */
function tell(context: Context, incidents: readonly Incident[]): Promise<Incident[]> {
  return transaction(context.database, async (client) => {
    const taken = await takeIncidents(client, { keys: incidents.map(({ key }) => key) });
    const since = new Map(taken.map(({ key, began_at }) => [key, began_at]));
    const found = incidents.filter(({ key }) => since.has(key));
    for (const incident of found) await mail(context, client, incident, since.get(incident.key)!);
    return found;
  });
}

async function mail(
  { config, vault }: Context,
  client: Queryable,
  incident: Incident,
  since: Date,
): Promise<void> {
  if (!config.smtp) return;
  const { what, remedy, fields, url } = incident;
  const workspaceId = incident.workspaceId ?? (await firstWorkspace(client))?.id;
  if (workspaceId === undefined) return;
  const addresses = incident.workspaceId
    ? (await inCellOf(client, workspaceId, (cell) => selectOwners(cell, { workspace_id: workspaceId }))).map(
        ({ email }) => email,
      )
    : [config.operatorEmail];
  const letter: NewMail['letter'] = {
    heading: what,
    blocks: [
      { kind: 'fields', fields },
      { kind: 'text', text: remedy },
      ...(url === undefined ? [] : [{ kind: 'button' as const, label: 'Open it', url }]),
    ],
    reason: incident.workspaceId
      ? `You get this mail because you own the workspace. It is not repeated while this lasts.`
      : `You get this mail because you run ${config.publicUrl} (OPERATOR_EMAIL). It is not repeated while this lasts.`,
  };
  const mails = addresses.flatMap((address): NewMail[] => {
    const to = address === undefined ? undefined : readMailAddress(address);
    if (!to) return [];
    const id = idOf('incident', incident.key, since.toISOString(), to.address);
    return [{ id, kind: 'incident', to, subject: what, letter }];
  });
  const place = { workspaceId, isPrivate: incident.workspaceId === undefined };
  await inCellOf(client, workspaceId, async (cell) => {
    await enqueueMails(cell, vault, place, mails);
    await announceWithCommit(cell);
  });
}
