import { findInAllCells } from '#cells/across-cells.ts';
import { cellsOf } from '#cells/cells.ts';
import type { Database } from '#kit/database.ts';
import { updateKeyFingerprint } from '#kit/instance-key.ts';
import { statement } from '#kit/statement.ts';
import { findInstanceKey, keysPattern, newKey, replaceInstanceKeys, type Vault } from '#kit/vault.ts';
import { command, PartlyDone } from './command.ts';
import { UsageError } from './values.ts';

/**
 * What another key than the one of now has sealed in a column, from `after` on, in the order in which rows lie. `place` is
 * a row as long as nobody writes to it; it is written where the column is still what was read.
 */
const sealedIn = (table: string, column: string, isOfInstance = false) => ({
  /** Whether the instance has the table, and no other cell. */
  isOfInstance,
  select: statement(
    `cli.select_sealed_${table}_${column}`,
    'key_id:bytes after:text limit',
    'place sealed:bytes',
    `/* operator: across workspaces */
     select ctid::text as place, ${column} as sealed from ${table}
      where ${column} is not null and substring(${column} for 4) <> $key_id and ctid > $after::tid
      order by ctid limit $limit`,
  ),
  update: statement(
    `cli.update_sealed_${table}_${column}`,
    'places:texts former:byteStrings sealed:byteStrings',
    'place',
    `/* operator: across workspaces */
     update ${table} set ${column} = given.sealed
       from unnest($places, $former, $sealed) as given (place, former, sealed)
      where ${table}.ctid = given.place::tid and ${table}.${column} = given.former
      returning given.place`,
  ),
});

/** Every column in which something is sealed and stays, by what it is sealed for. */
export const sealedColumns = {
  'webhook secrets': [sealedIn('webhooks', 'secret'), sealedIn('webhooks', 'previous_secret')],
  'webhook headers': [sealedIn('webhooks', 'headers')],
  'second factors': [sealedIn('totp_secrets', 'secret', true)],
  mails: [sealedIn('mails', 'content')],
  answers: [sealedIn('repeatable_requests', 'answer')],
  erasures: [sealedIn('tasks', 'secret')],
} as const;

/** What was looked at at once. */
const batchSize = 500;

type Purpose = keyof typeof sealedColumns;
/** `found`: what a former key had sealed; `lost`: what none of the keys opens. */
type Resealed = { what: Purpose; found: number; lost: number };

/**
 * Finds what another key than the one of now has sealed, and seals it with the one of now; what is written meanwhile by
 * a process that has the key of now is sealed with it already.
 * @param options.isDry counts alone.
 */
async function reseal(
  database: Database,
  vault: Vault,
  { isDry = false }: { isDry?: boolean } = {},
): Promise<Resealed[]> {
  const all: Resealed[] = [];
  for (const what of Object.keys(sealedColumns) as Purpose[]) {
    const told = { what, found: 0, lost: 0 };
    // One after the other: a row that is written lies elsewhere, where another column would not find it again.
    for (const column of sealedColumns[what])
      for (const each of column.isOfInstance ? [{ database }] : cellsOf(database))
        await resealColumn(each.database, column, told);
    all.push(told);
  }
  return all;

  async function resealColumn(
    database: Database,
    column: (typeof sealedColumns)[Purpose][number],
    told: Resealed,
  ): Promise<void> {
    let after = '(0,0)';
    for (;;) {
      const rows = await column.select(database, { key_id: vault.keyId, after, limit: batchSize });
      const opened = rows.flatMap(({ place, sealed }) => {
        const plain = open(told.what, sealed);
        return plain === undefined ? [] : [{ place, former: sealed, sealed: vault.seal(told.what, plain) }];
      });
      told.found += opened.length;
      told.lost += rows.length - opened.length;
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

/** Webhooks with something that the instance's key opens, oldest first. */
const selectSealed = statement(
  'cli.select_sealed',
  '',
  'id workspace_id form_id url secret? headers?',
  `/* operator: across workspaces */
   select id, workspace_id, form_id, url, secret, headers
     from webhooks
    where secret is not null or headers is not null
    order by id`,
);

export const instanceKeyCommands = [
  command({
    name: 'instance-key add',
    summary: 'The first step to another key: puts a new one in front of the one of now.',
    note:
      'Restart every process of this database: it seals and signs with the new key then, and knows the former one. Then ' +
      '`instance-key reseal`. (Where several machines serve: SECRET_KEY=<former>,<new> on each first, restarted one after ' +
      'the other, then the other order, so that none meets a key that it does not know.)',
    async run({ config, vault }) {
      if (config.secretKey !== undefined)
        return {
          set: `SECRET_KEY=${newKey()},<what SECRET_KEY is now>`,
          keys: vault.derive('fingerprint').length,
        };
      const keys = [newKey(), (await findInstanceKey(config.dataDir, undefined))!].join(',');
      if (!keysPattern.test(keys))
        throw new UsageError(
          'There are four keys already: `instance-key forget` takes the former ones away.',
        );
      await replaceInstanceKeys(config.dataDir, keys);
      return { keys: keys.split(',').length };
    },
  }),
  command({
    name: 'instance-key reseal',
    summary:
      'The second step to another key: seals with the key of now what a former one has sealed, while the service goes on.',
    note:
      'Run it again until nothing is found. As long as the former key is kept, links that it signed go on working, and so do ' +
      'recovery codes and sessions of people. `instance-key forget` ends them.',
    async run({ database, vault }) {
      const data = await reseal(database, vault);
      await noteKey(database, vault);
      return { data };
    },
  }),
  command({
    name: 'instance-key forget',
    summary:
      'The last step to another key: takes the former ones away, where nothing is sealed with them any more.',
    note:
      'Restart every process. Links that were given out before (of invitations, to go on or to edit, to files, to ' +
      'unsubscribe), sessions and recovery codes of before have ended.',
    async run({ config, database, vault }) {
      const former = vault.derive('fingerprint').length - 1;
      const data = await reseal(database, vault, { isDry: true });
      if (data.some(({ found }) => found > 0))
        throw new PartlyDone(
          'Something is still sealed with a former key: run `instance-key reseal` first.',
          { data },
        );
      // `reseal` may have been killed before it said so, or never run: with the former one gone no process would start.
      await noteKey(database, vault);
      if (config.secretKey !== undefined)
        return { set: 'SECRET_KEY=<the first of its keys alone>', forgotten: former };
      const [now] = (await findInstanceKey(config.dataDir, undefined))!.split(',');
      await replaceInstanceKeys(config.dataDir, now!);
      return { forgotten: former };
    },
  }),
  command({
    name: 'instance-key replace',
    summary:
      'For a key that is lost: goes on with SECRET_KEY, or a new DATA_DIR/secret.key, and lists the webhooks whose secret or headers are lost with it.',
    note:
      'Give each of these a new secret (webhooks set-secret <id> --no-overlap) or its headers anew; until then ' +
      'its deliveries fail. Links that were given out (to files, invitations, saved answers) and sessions have ended, mails ' +
      'that waited are lost. Forms, submissions, accounts and API keys are as they were. Restart every running server.',
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

/** From now on the database is used with the key of now, or with several of which that is one. */
const noteKey = async (database: Database, vault: Vault): Promise<void> =>
  void (await updateKeyFingerprint(database, { key_fingerprint: vault.derive('fingerprint')[0] }));

function opens(vault: Vault, purpose: Parameters<Vault['unseal']>[0], sealed: Buffer): boolean {
  try {
    vault.unseal(purpose, sealed);
    return true;
  } catch {
    return false;
  }
}
