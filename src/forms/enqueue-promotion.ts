import { newId } from '#kit/clock.ts';
import { announceJobsWithCommit, insertJobsSql } from '#kit/queue.ts';
import { type Queryable, statement } from '#kit/statement.ts';

/** The job that gives free places to waiting submissions (src/submissions/changes/promote.ts). */
export const promotionJob = 'waiting_list.promote';

const insertPromotion = statement('workspace_id form_id id', 'id')`
  with job as materialized (
    select f.workspace_id, $id as id, '${promotionJob}' as kind, '${promotionJob} ' || f.id as lane,
           jsonb_build_object('formId', f.id) as payload, now() as run_at, now() as at
    from forms f
    where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
      and (f.settings -> 'waiting_list' = 'true' or exists (
        select from submissions s
        where s.workspace_id = f.workspace_id and s.form_id = f.id and s.status = 'waiting' and s.trashed_at is null))),
  put as (${insertJobsSql('job')})
  select id from job`;

/**
 * Enqueues the promotion of waiting submissions, in the transaction that may have freed a place. Does nothing
 * for a form without a waiting list. The job takes the form lock, so it also sees a submission that joins the
 * list in the meantime.
 */
export async function enqueuePromotion(
  db: Queryable,
  form: { workspace_id: string; form_id: string },
): Promise<void> {
  const { workspace_id, form_id } = form;
  const enqueued = await insertPromotion(db, { workspace_id, form_id, id: newId() });
  if (enqueued.length > 0) await announceJobsWithCommit(db);
}
