import type { PoolClient } from 'pg';
import type { CopyToStreamQuery } from 'pg-copy-streams';

/** How many rows a COPY gave, of which all were read. PostgreSQL says it after the last byte, and at times that comes alone: until the next answer nobody knows. */
export async function countOf(client: PoolClient, copy: CopyToStreamQuery): Promise<number> {
  await client.query('select');
  return copy.rowCount;
}
