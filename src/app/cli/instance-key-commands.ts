import { findInAllCells } from '#cells/across-cells.ts';
import { cellsOf } from '#cells/cells.ts';
import type { Database } from '#kit/database.ts';
import { updateKeyFingerprint } from '#kit/instance-key.ts';
import { statement } from '#kit/statement.ts';
import {
  findInstanceKey,
  generateInstanceKey,
  keysPattern,
  replaceInstanceKeys,
  type Vault,
} from '#kit/vault.ts';
import { defineDatabaseCommand, PartialFailureError } from './command.ts';
import { UsageError } from './values.ts';

/**
 * Statements that read and update values of a column that are sealed with a previous key. Rows are read in
 * physical order, starting after `after`. `place` identifies a row only until the row is written, so the
 * update requires the value that was read.
 */
const sealedIn = (table: string, column: string, isOfInstance = false) => ({
  /** Whether the table belongs to the instance rather than to each cell. */
  isOfInstance,
  select: statement('key_id:bytes after:text limit', 'place sealed:bytes')`
    /* operator: across workspaces */
    select ctid::text as place, ${column} as sealed from ${table}
     where ${column} is not null and substring(${column} for 4) <> $key_id and ctid > $after::tid
     order by ctid limit $limit`,
  update: statement('places:texts former:byteStrings sealed:byteStrings', 'place')`
    /* operator: across workspaces */
    update ${table} set ${column} = given.sealed
      from unnest($places, $former, $sealed) as given (place, former, sealed)
     where ${table}.ctid = given.place::tid and ${table}.${column} = given.former
     returning given.place`,
});

/** All columns with values that are stored sealed, by the purpose of the seal. */
export const sealedColumns = {
  'webhook secrets': [sealedIn('webhooks', 'secret'), sealedIn('webhooks', 'previous_secret')],
  'webhook headers': [sealedIn('webhooks', 'headers')],
  'second factors': [sealedIn('totp_secrets', 'secret', true)],
  mails: [sealedIn('mails', 'content')],
  answers: [sealedIn('repeatable_requests', 'answer')],
  erasures: [sealedIn('tasks', 'secret')],
} as const;

/** The number of rows in a batch. */
const batchSize = 500;

type Purpose = keyof typeof sealedColumns;
/** `found` counts values sealed with a previous key; `lost` counts values that no key opens. */
type Resealed = { what: Purpose; found: number; lost: number };

/**
 * Finds values that are sealed with a previous key, and seals them with the current one. Processes that have
 * the current key already use it for sealing.
 * @param options.isDry counts without writing.
 */
async function reseal(
  database: Database,
  vault: Vault,
  { isDry = false }: { isDry?: boolean } = {},
): Promise<Resealed[]> {
  const all: Resealed[] = [];
  for (const what of Object.keys(sealedColumns) as Purpose[]) {
    const counts = { what, found: 0, lost: 0 };
    // One after the other: writing a row moves it, so a scan of another column would miss it.
    for (const column of sealedColumns[what])
      for (const each of column.isOfInstance ? [{ database }] : cellsOf(database))
        await resealColumn(each.database, column, counts);
    all.push(counts);
  }
  return all;

  async function resealColumn(
    database: Database,
    column: (typeof sealedColumns)[Purpose][number],
    counts: Resealed,
  ): Promise<void> {
    let after = '(0,0)';
    for (;;) {
      const rows = await column.select(database, { key_id: vault.keyId, after, limit: batchSize });
      const opened = rows.flatMap(({ place, sealed }) => {
        const plain = open(counts.what, sealed);
        return plain === undefined ? [] : [{ place, former: sealed, sealed: vault.seal(counts.what, plain) }];
      });
      counts.found += opened.length;
      counts.lost += rows.length - opened.length;
      if (!isDry)
        await column.update(database, {
          places: opened.map(({ place }) => place),
          former: opened.map(({ former }) => former),
          sealed: opened.map(({ sealed }) => sealed),
        });
      if (rows.length < batchSize) return;
      after = rows.at(-1)!.place;
    }
  }

  function open(what: Purpose, sealed: Buffer): string | undefined {
    try {
      return vault.unseal(what, sealed);
    } catch {
      return undefined;
    }
  }
}

/** Finds the webhooks with a sealed secret or sealed headers, oldest first. */
const selectSealed = statement('', 'id workspace_id form_id? url secret? headers?')`
  /* operator: across workspaces */
  select id, workspace_id, form_id, url, secret, headers
    from webhooks
   where secret is not null or headers is not null
   order by id`;

export const instanceKeyCommands = [
  defineDatabaseCommand({
    name: 'instance-key add',
    summary: 'Step 1 of replacing the instance key: adds a new key in front of the current one.',
    note: 'Restart every process of this database. The processes then seal and sign with the new key, and still accept the previous one. Next, run `instance-key reseal`. (With several machines, first set SECRET_KEY=<previous>,<new> on each and restart them one after another. Then set SECRET_KEY=<new>,<previous> and restart them again. This way no machine receives data sealed with a key that it does not have.)',
    async run({ config, vault }) {
      if (config.secretKey !== undefined)
        return {
          set: `SECRET_KEY=${generateInstanceKey()},<the current SECRET_KEY>`,
          keys: vault.derive('fingerprint').length,
        };
      const keys = [generateInstanceKey(), (await findInstanceKey(config.dataDir, undefined))!].join(',');
      if (!keysPattern.test(keys))
        throw new UsageError(
          'There are already four keys. Remove the previous ones with `instance-key forget`.',
        );
      await replaceInstanceKeys(config.dataDir, keys);
      return { keys: keys.split(',').length };
    },
  }),
  defineDatabaseCommand({
    name: 'instance-key reseal',
    summary:
      'Step 2 of replacing the instance key: reseals data from previous keys with the current one while the service runs.',
    note: 'Repeat the command until it finds nothing. Links signed with the previous key, recovery codes and sessions keep working as long as that key is kept. `instance-key forget` invalidates them.',
    async run({ database, vault }) {
      const data = await reseal(database, vault);
      await recordKeyFingerprint(database, vault);
      return { data };
    },
  }),
  defineDatabaseCommand({
    name: 'instance-key forget',
    summary:
      'Step 3 of replacing the instance key: removes the previous keys when no data is sealed with them.',
    note: 'Restart every process. Earlier sessions, recovery codes and links (invitations, saved answers, editing, files, unsubscribing) no longer work.',
    async run({ config, database, vault }) {
      const former = vault.derive('fingerprint').length - 1;
      const data = await reseal(database, vault, { isDry: true });
      if (data.some(({ found }) => found > 0))
        throw new PartialFailureError(
          'Some data is still sealed with a previous key. Run `instance-key reseal` first.',
          { data },
        );
      // `reseal` may have been killed before it did this, or may never have run. Without this, no process
      // would start after the previous key is removed.
      await recordKeyFingerprint(database, vault);
      if (config.secretKey !== undefined)
        return { set: 'SECRET_KEY=<only the first of its keys>', forgotten: former };
      const [now] = (await findInstanceKey(config.dataDir, undefined))!.split(',');
      await replaceInstanceKeys(config.dataDir, now!);
      return { forgotten: former };
    },
  }),
  defineDatabaseCommand({
    name: 'instance-key replace',
    summary:
      'Use this if the key is lost: continues with SECRET_KEY or a new DATA_DIR/secret.key, and lists the webhooks whose secret or headers are lost.',
    note: 'Give each webhook a new secret (webhooks set-secret <id> --no-overlap) or set its headers again; until then its deliveries fail. Earlier links (files, invitations, saved answers), sessions and waiting emails are lost. Forms, submissions, accounts and API keys are not affected. Restart every running server.',
    replacesKey: true,
    async run({ database, vault }) {
      const webhooks = await findInAllCells(database, (cells) => selectSealed(cells, {}), {
        isPartial: true,
      });
      const data = webhooks.flatMap(({ secret, headers, ...webhook }) => {
        const lost = [
          ...(secret && !opens(vault, 'webhook secrets', secret) ? ['secret'] : []),
          ...(headers && !opens(vault, 'webhook headers', headers) ? ['headers'] : []),
        ];
        return lost.length > 0 ? [{ ...webhook, lost: lost.join(', ') }] : [];
      });
      return { data };
    },
  }),
];

/** Records that the current key is used with the database from now on. */
const recordKeyFingerprint = async (database: Database, vault: Vault): Promise<void> =>
  void (await updateKeyFingerprint(database, { key_fingerprint: vault.derive('fingerprint')[0] }));

function opens(vault: Vault, purpose: Parameters<Vault['unseal']>[0], sealed: Buffer): boolean {
  try {
    vault.unseal(purpose, sealed);
    return true;
  } catch {
    return false;
  }
}
