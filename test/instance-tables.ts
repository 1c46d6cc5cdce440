import { readMigrations, toCellMigration } from '#kit/migrate.ts';

const createdBy = (sql: string): string[] =>
  [...sql.matchAll(/^create table ([a-z_]+)/gim)].map(([, table]) => table!);

/** The tables that migrations create once for the instance, not in each cell. */
export const instanceTables: ReadonlySet<string> = new Set(
  (await readMigrations()).flatMap((migration) => {
    const ofCell = new Set(createdBy(toCellMigration(migration).sql));
    return createdBy(migration.sql).filter((table) => !ofCell.has(table));
  }),
);
