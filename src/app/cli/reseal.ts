import { cellsOf } from '#cells/cells.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';
import { statement } from '#kit/statement.ts';

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
  erasures: [sealedIn('erasures', 'asked')],
} as const;

/** What was looked at at once. */
const batchSize = 500;

type Purpose = keyof typeof sealedColumns;
/** `found`: what a former key had sealed; `lost`: what none of the keys opens. */
export type Resealed = { what: Purpose; found: number; lost: number };

/**
 * Finds what another key than the one of now has sealed, and seals it with the one of now; what is written meanwhile by
 * a process that has the key of now is sealed with it already.
 * @param options.isDry counts alone.
 */
export async function reseal(
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
