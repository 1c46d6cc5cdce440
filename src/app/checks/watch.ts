import { runInCellOf } from '#cells/across-cells.ts';
import { deriveId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMails, type NewMail } from '#kit/outbox.ts';
import { announceJobsWithCommit } from '#kit/queue.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { findFallbackWorkspace } from '#workspaces/audit/email-events.ts';
import type { Incident } from './check.ts';
import { instanceFacts } from './facts.ts';
import { allChecks } from './instance-checks.ts';

/** Records that these incidents continue, and returns whether each has been reported. */
const recordIncidents = statement('keys', 'key:text is_told:boolean')`
  insert into incidents (key, began_at, seen_at, is_told)
  select key, now(), now(), false from unnest($keys) as key order by key
  on conflict (key) do update set seen_at = excluded.seen_at
  returning key, is_told`;

/** Claims incidents that no other process has claimed, and returns when each began. */
const claimIncidents = statement('keys', 'key:text began_at:timestamp')`
  with untold as (
    select key from incidents where key = any ($keys) and not is_told order by key for update)
  update incidents set is_told = true from untold where incidents.key = untold.key
  returning incidents.key, began_at`;

/** Ends incidents that no check has found for this many seconds. */
const endIncidents = statement('calm:double', 'key:text')`
  delete from incidents where seen_at < now() - make_interval(secs => $calm) returning key`;

const selectOwners = statement('workspace_id', 'email')`
  select u.email from members m join users u on u.id = m.user_id
   where m.workspace_id = $workspace_id and m.role = 'owner' order by u.id`;

type Context = Parameters<typeof instanceFacts>[0] & { log: Log; vault: Vault; wakeQueue: () => void };

/** Returns the incidents that this process currently finds, by check. */
export function findIncidents(
  context: Parameters<typeof instanceFacts>[0],
): Promise<PromiseSettledResult<Incident[]>[]> {
  const facts = instanceFacts(context);
  return Promise.allSettled(
    allChecks.map(async ({ id, look, email, incidents }) => {
      if (incidents) return incidents(facts);
      const finding = email && (await look?.(facts));
      if (finding?.state !== 'problem') return [];
      const { what, remedy } = finding;
      return [{ key: id, what: email!.what, remedy, fields: [{ label: email!.label, value: what }] }];
    }),
  );
}

/** An incident that returns within this time counts as the same incident. */
const calmSeconds = 600;

/**
 * Finds current incidents. A new one causes one warning in the log and one email, whichever process finds it.
 * It is reported again only if it returns after `calm` seconds. A failing check does not prevent the others.
 */
export async function reportNewIncidents(context: Context, calm = calmSeconds): Promise<void> {
  const { database, log } = context;
  const checks = await findIncidents(context);
  const found = checks.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const noted = await recordIncidents(database, { keys: found.map(({ key }) => key) });
  const isUnreported = new Set(noted.filter((each) => !each.is_told).map(({ key }) => key));
  const incidents = found.filter(({ key }) => isUnreported.has(key));
  // An email in another cell is committed before the incident is marked as reported here. Incidents are
  // grouped by workspace, so a failure affects only one workspace.
  const reported: Incident[] = [];
  for (const group of Map.groupBy(incidents, ({ workspaceId }) => workspaceId).values())
    reported.push(...(await report(context, group)));
  for (const { key, what, remedy, workspaceId } of reported)
    log.warn({ incident: key, workspace_id: workspaceId, remedy }, what);
  if (reported.length > 0) context.wakeQueue();
  // If a check failed, its incidents may still continue.
  for (const each of checks) if (each.status === 'rejected') throw each.reason;
  for (const { key } of await endIncidents(database, { calm }))
    log.info({ incident: key }, 'an incident has ended');
}

/** Emails the incidents that no other process has claimed, and returns them. */
function report(context: Context, incidents: readonly Incident[]): Promise<Incident[]> {
  return transaction(context.database, async (client) => {
    const claimed = await claimIncidents(client, { keys: incidents.map(({ key }) => key) });
    const since = new Map(claimed.map(({ key, began_at }) => [key, began_at]));
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
  const workspaceId = incident.workspaceId ?? (await findFallbackWorkspace(client))?.id;
  if (workspaceId === undefined) return;
  const addresses = incident.workspaceId
    ? (
        await runInCellOf(client, workspaceId, (cell) => selectOwners(cell, { workspace_id: workspaceId }))
      ).map(({ email }) => email)
    : [config.operatorEmail];
  const letter: NewMail['letter'] = {
    heading: what,
    blocks: [
      { kind: 'fields', fields },
      { kind: 'text', text: remedy },
      ...(url === undefined ? [] : [{ kind: 'button' as const, label: 'View details', url }]),
    ],
    reason: incident.workspaceId
      ? `You receive this email because you own the workspace. It will not be sent again while the problem lasts.`
      : `You receive this email because you run ${config.publicUrl} (OPERATOR_EMAIL). It will not be sent again while the problem lasts.`,
  };
  const mails = addresses.flatMap((address): NewMail[] => {
    const to = address === undefined ? undefined : readMailAddress(address);
    if (!to) return [];
    const id = deriveId('incident', incident.key, since.toISOString(), to.address);
    return [{ id, kind: 'incident', to, subject: what, letter }];
  });
  const place = { workspaceId, isPrivate: incident.workspaceId === undefined };
  await runInCellOf(client, workspaceId, async (cell) => {
    await enqueueMails(cell, vault, place, mails);
    await announceJobsWithCommit(cell);
  });
}
