import assert from 'node:assert/strict';
import { type PublishedForm, sendVisitors } from '#test/crowd.ts';
import type { Instance, ServerProcess } from '#test/process.ts';
import type { Receiver } from '#test/receiver.ts';
import { until } from '#test/service.ts';

/** Where the crashes happen: an instance with a form whose webhook calls a receiver. */
export type CrashSite = { instance: Instance; form: PublishedForm; receiver: Receiver };

/** A round counts from this many acknowledged submissions, however slow the machine is. */
const leastAcknowledged = 10;

/**
 * Runs one crash. Eight visitors submit as fast as they can. `afterMs` after the first submissions, the
 * server and its database with all sessions are killed at the same moment. Then compares the data after the
 * next start with what was acknowledged.
 * @param acknowledged the submissions of earlier rounds by entry. Those of this round are added.
 * @returns the server that was started afterwards.
 */
export async function crash(
  { instance, form }: CrashSite,
  server: ServerProcess,
  { name, afterMs, acknowledged }: { name: string; afterMs: number; acknowledged: Map<string, string> },
): Promise<ServerProcess> {
  const visitors = sendVisitors(form.publicUrl, { count: 8, name });
  await until('the first submissions', async () => visitors.acknowledged.size >= leastAcknowledged);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  await Promise.all([server.kill(), instance.killDatabase()]);
  await visitors.gone;
  for (const [entry, id] of visitors.acknowledged) acknowledged.set(entry, id);
  const next = await instance.start();
  await checkSubmissions({ instance, form }, acknowledged);
  return next;
}

/**
 * Asserts that every acknowledged submission exists once under its id, the totals are correct, and nothing is
 * half written.
 */
async function checkSubmissions(
  { instance, form }: Omit<CrashSite, 'receiver'>,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  const { idsByAnswer, totals, listed } = await form.listAll();
  const lost = [...acknowledged].filter(([entry, id]) => idsByAnswer.get(entry)?.join() !== id);
  assert.deepEqual(lost, [], 'acknowledged, and not there exactly once');
  const twice = [...idsByAnswer.values()].filter((ids) => ids.length > 1);
  assert.deepEqual(twice, []);

  const { body } = await form.call('GET', `/forms/${form.id}`);
  const [rows] = await instance.query<{ count: number }>(
    `select count(*)::integer as count from submissions where form_id = '${form.id}'`,
  );
  assert.deepEqual(
    { totals: [...totals], listed, counted: body.submission_count },
    { totals: [rows!.count], listed: rows!.count, counted: rows!.count },
  );

  assert.deepEqual(await instance.query(halfWritten(form.id)), []);
}

/**
 * Finds submissions without a search document, event or delivery, waiting deliveries without a job, and jobs
 * without a waiting delivery.
 */
const halfWritten = (formId: string): string => `
  select s.id, d.submission_id is not null as has_document, e.id is not null as has_event,
         delivery.status, job.id is not null as has_job
    from submissions s
    left join search_documents d on d.workspace_id = s.workspace_id and d.submission_id = s.id
    left join events e on e.workspace_id = s.workspace_id and e.submission_id = s.id
    left join deliveries delivery on delivery.workspace_id = e.workspace_id and delivery.event_id = e.id
    left join jobs job on job.workspace_id = delivery.workspace_id and job.id = delivery.id
   where s.form_id = '${formId}'
     and (d.submission_id is null or e.id is null or delivery.id is null or (delivery.status = 'Retrying') <> (job.id is not null))`;

/**
 * Waits until the receiver has every acknowledged submission. Deliveries that a dead server claimed arrive
 * when their lease expires.
 */
export async function checkDeliveries(
  { receiver }: Pick<CrashSite, 'receiver'>,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  const heard = new Map<string, Set<string>>();
  let read = 0;
  const missing = (): string[] => {
    for (; read < receiver.requests.length; read += 1) {
      const { delivery_id, submission } = JSON.parse(receiver.requests[read]!.body.toString()) as {
        delivery_id: string;
        submission: { id: string };
      };
      heard.set(submission.id, (heard.get(submission.id) ?? new Set()).add(delivery_id));
    }
    return [...acknowledged.values()].filter((id) => !heard.has(id));
  };
  await until('every acknowledged submission to be told of', async () => missing().length === 0, 60);
  assert.deepEqual(
    [...heard.values()].filter((ids) => ids.size !== 1),
    [],
    'a repeated delivery has the same id',
  );
}
