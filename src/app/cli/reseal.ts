import { cellsOf } from '#cells/cells.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';
import { sealedColumns } from './queries.ts';

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
