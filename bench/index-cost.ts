import { Client } from 'pg';
import type { Form } from '#ast/form/tree.ts';
import { searchableText } from '#ast/searchable.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { indexSubmission } from '#submissions/search-text/document.ts';
import { insertSubmission } from '#submissions/submission-record.ts';
import { openInstance } from '#test/process.ts';
import { workedBy } from './cpu-seconds.ts';
import { describeMachine, middle } from './report.ts';
import { structure, submissionAt } from './seed.ts';
import { prepareSites } from './site.ts';

/*
 * Measures what the search index costs a submit: CPU of PostgreSQL and bytes of WAL per submission, over one
 * connection. The variants take turns, and all but the first are rolled back.
 */

const existing = 100_000;
const perRound = 3_000;
const bufferSizes = [500, 1_000, 2_000, 5_000];

/** The insert of a submission without its search document. */
const withoutDocument = `
  with live as materialized (select live_version_in_turn($1, $2) as version),
   submission as (
     insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at)
     select $1, $3, $2, 1, 'completed', $4, '{}', false, $5, $5, $5 from live returning id)
   insert into submission_counts (workspace_id, form_id, status, slot, count)
   select $1, $2, 'completed', 0, 1 from submission
   on conflict (workspace_id, form_id, status, slot) do update set count = submission_counts.count + 1`;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Runs `npm run bench -- index`. @param rounds how often each variant is measured. */
export async function benchIndex({ rounds }: { rounds: number }): Promise<void> {
  say(await describeMachine());
  const instance = await openInstance();
  try {
    const server = await instance.start();
    const [site] = await prepareSites(instance, [existing]);
    // Stopped, so that the server's own cleaner does not work at the same time.
    process.kill(server.pid, 'SIGSTOP');
    const client = new Client({ connectionString: instance.databaseUrl });
    await client.connect();
    await client.query('set plan_cache_mode = force_generic_plan; set synchronous_commit = off');
    const [{ pid }] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows as [
      { pid: number },
    ];
    const walBytes = async (): Promise<number> => {
      const { rows } = await client.query(
        "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes",
      );
      return Number(rows[0].bytes);
    };
    let written = 0;
    const nextRow = () => {
      const { answers } = submissionAt(written, { site: 90, count: existing });
      written += 1;
      const id = newId();
      return {
        workspace_id: site!.workspaceId,
        form_id: site!.formId,
        id,
        version: 1,
        answers: JSON.stringify(answers),
        reference: '{}',
        respondent: null,
        has_files: false,
        form_language: null,
        verified: null,
        live_version: null,
        status: 'completed' as const,
        created_at: timeOfId(id),
        completed_at: timeOfId(id),
        ...indexSubmission(searchableText(structure as Form, answers, {}, undefined), 'english'),
      };
    };
    type Row = ReturnType<typeof nextRow>;
    const figures = new Map<string, { cpu: number; wal: number }[]>();
    const measured = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      const [cpu, wal] = [await workedBy(pid), await walBytes()];
      await work();
      const figure = { cpu: (await workedBy(pid)) - cpu, wal: (await walBytes()) - wal };
      figures.set(name, [...(figures.get(name) ?? []), figure]);
    };
    const insertRows = async (name: string, insert: (row: Row) => Promise<unknown>): Promise<void> => {
      const rows = Array.from({ length: perRound }, nextRow);
      await measured(name, async () => {
        for (const row of rows) await insert(row);
      });
    };
    const insertDocument = (row: Row): Promise<unknown> => insertSubmission(client, row);
    const cleanPending = () =>
      client.query("select gin_clean_pending_list('search_documents_terms'::regclass)");
    const afterChange = async (name: string, change: string): Promise<void> => {
      await client.query(`begin; ${change}`);
      await insertRows(name, insertDocument);
      await client.query('rollback');
    };
    await cleanPending();
    for (let round = 0; round < rounds; round += 1) {
      await insertRows('as today, into the pending list', insertDocument);
      await measured('moving the pending list into the index', cleanPending);
      await afterChange('document without an index', 'drop index search_documents_terms');
      await afterChange(
        'index without a pending list',
        'alter index search_documents_terms set (fastupdate = off)',
      );
      await insertRows('no document', (row) =>
        client.query({
          name: 'without_document',
          text: withoutDocument,
          values: [row.workspace_id, row.form_id, row.id, row.answers, row.created_at],
        }),
      );
    }
    for (const [name, rounded] of figures) {
      const cpu = middle(rounded.map((each) => (each.cpu * 1e6) / perRound));
      const wal = middle(rounded.map((each) => each.wal / perRound));
      say(`${name}: ${Math.round(cpu)} µs of PostgreSQL and ${Math.round(wal)} bytes of WAL per submission`);
    }
    for (const size of bufferSizes) {
      await client.query(
        `drop table if exists buffer; create temp table buffer as select terms from search_documents limit ${size}`,
      );
      const before = await workedBy(pid);
      for (let time = 0; time < 50; time += 1)
        await client.query("select count(*) from buffer where terms @@ 'absent'::tsquery");
      say(`scanning ${size} documents: ${((((await workedBy(pid)) - before) * 1e3) / 50).toFixed(1)} ms`);
    }
    process.kill(server.pid, 'SIGCONT');
    await client.end();
    await server.terminate();
  } finally {
    await instance.close();
  }
}
