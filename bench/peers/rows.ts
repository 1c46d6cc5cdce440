import { Client } from 'pg';
import { timeOfId } from '#kit/clock.ts';
import { type SeededSubmission, wordOf } from '../seed.ts';
import type { Site } from '../site.ts';

/** The submissions of a site's first form, oldest first. A peer's table has the same rows. */
export type Rows = { count: number; at(place: number): SeededSubmission };

export const rowsOf = (site: Site): Rows => ({
  count: site.count / 2,
  at: (place) => site.submissionAt(2 * place),
});

/** Returns positions spread over all rows, the same ones every time. */
export const somePlaces = ({ count }: Rows): number[] =>
  Array.from({ length: 2_000 }, (_, index) => (index * 7_919) % count);

/** Returns the answers of the first thousand rows, to be submitted again. */
export const someAnswers = (rows: Rows): SeededSubmission['answers'][] =>
  Array.from({ length: Math.min(1_000, rows.count) }, (_, place) => rows.at(place).answers);

/** About one row in a thousand contains it. */
export const scarceWord = wordOf(8_000);

/** The inputs of the form (bench/seed.ts). Each is a column of a peer's table under its name. */
export const answerColumns = ['subject', 'email', 'phone', 'topic', 'people', 'day', 'newsletter', 'message'];

const rowsAtOnce = 2_000;

/**
 * Writes all rows into a table of a peer, and adds an index by creation time, which no peer creates itself.
 * @param columns beside the answers: an expression over `id` (uuid), `at` (creation time) and `place` (from
 * 0).
 * @param newestFirst the columns, with their order, of the index that its list can use.
 */
export async function fillTable(
  databaseUrl: string,
  rows: Rows,
  {
    table,
    columns,
    newestFirst,
  }: { table: string; columns: Readonly<Record<string, string>>; newestFirst: string },
): Promise<void> {
  const names = [...Object.keys(columns), ...answerColumns].map((name) => `"${name}"`);
  const expressions = [...Object.values(columns), ...answerColumns];
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (let first = 0; first < rows.count; first += rowsAtOnce) {
      const batch = Array.from({ length: Math.min(rowsAtOnce, rows.count - first) }, (_, offset) => {
        const { id, answers } = rows.at(first + offset);
        return { ...answers, id, at: timeOfId(id), place: first + offset };
      });
      await client.query(
        `insert into ${table} (${names.join(', ')})
         select ${expressions.join(', ')} from json_to_recordset($1) as source
           (id uuid, at timestamptz, place int, subject text, email text, phone text, topic text, people int, day date, newsletter bool, message text)`,
        [JSON.stringify(batch)],
      );
    }
    await client.query(`create index on ${table} (${newestFirst})`);
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}
