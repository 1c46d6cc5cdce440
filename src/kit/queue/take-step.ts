import { type Database, transaction } from '../database.ts';
import { completeJob, type Job, rescheduleJob } from '../queue.ts';
import type { Queryable } from '../statement.ts';

type Take<Row> = (db: Queryable, key: { workspace_id: string; id: string; limit: number }) => Promise<Row[]>;

/**
 * One step of a job whose work waits as rows of a table: some are taken and done, or nothing happened, so that each is done once
 * however often the job is killed. With the last of them the job ends, else it comes again at once.
 * @param waiting how they are taken (`takeFirst`), the id of what they wait for, and how many go at once.
 * @throws LeaseLost where the job is no longer this worker's.
 */
export const takeStep = <Row, Result>(
  database: Database,
  job: Job,
  { take, id, limit }: { take: Take<Row>; id: string; limit: number },
  work: (client: Queryable, rows: Row[], isLast: boolean) => Promise<Result>,
): Promise<Result> =>
  transaction(database, async (client) => {
    const rows = await take(client, { workspace_id: job.workspaceId, id, limit });
    const isLast = rows.length < limit;
    const result = await work(client, rows, isLast);
    if (isLast) await completeJob(client, job);
    else await rescheduleJob(client, job, { delay: 0 });
    return result;
  });
