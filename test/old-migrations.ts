import type { Database } from '#kit/database.ts';
import { replacedMigrations } from '#kit/migrate.ts';

/**
 * Rewrites the recorded migrations of a schema as they were before 0001_init.sql replaced the first 84.
 * @param last the last of those 84 that is recorded. If it is not 84, the tables are newer than the record.
 */
export async function recordOldMigrations(
  database: Database,
  schema = 'public',
  last: number = replacedMigrations.last,
): Promise<void> {
  await database.query(`
    delete from ${schema}.migrations where number = 1;
    update ${schema}.migrations set number = number + ${replacedMigrations.last - 1},
           name = lpad((number + ${replacedMigrations.last - 1})::text, 4, '0') || substr(name, 5);
    insert into ${schema}.migrations (number, name, checksum)
    select number, lpad(number::text, 4, '0') || '_old.sql', case number when 1 then '${replacedMigrations.first}' else 'old' end
      from generate_series(1, ${last}) number`);
}
