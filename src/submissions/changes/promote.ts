import { transaction } from '#kit/database.ts';
import { completeJob, type Job } from '#kit/queue.ts';
import type { ChangedBy } from '../differences.ts';
import { lockQuotas } from '../quotas.ts';
import { lockFormForSubmit } from '../submission-rows.ts';
import type { SubmitServices } from '../submit-request.ts';
import { findPromotable, readListedForm } from '../waiting-list.ts';
import { setSubmissionStatus } from './edit.ts';

/** The number of submissions per transaction, to keep the form lock short. */
const batchSize = 50;

const byWaitingList: ChangedBy = {
  changed_by: null,
  api_key_id: null,
  through: 'waiting_list',
  bulk_id: null,
};

/**
 * Gives the free places of a form to its waiting submissions, in their order and in batches. Each gets
 * `submission.updated` and an email.
 */
export async function promoteWaiting(context: SubmitServices, job: Job): Promise<void> {
  const { formId } = job.payload as { formId: string };
  const key = { workspaceId: job.workspaceId, formId };
  for (let isDone = false; !isDone; ) {
    isDone = await transaction(context.database, async (client) => {
      await lockFormForSubmit(client, { form_id: formId });
      const limited = await lockQuotas(client, key);
      const form = await readListedForm(client, key);
      const ids = form ? (await findPromotable(client, form, batchSize)).ids : [];
      for (const id of ids)
        await setSubmissionStatus(
          client,
          context.vault,
          { ...key, id, by: byWaitingList, limited },
          'completed',
        );
      if (ids.length === batchSize) return false;
      await completeJob(client, job);
      return true;
    });
    context.wakeQueue();
  }
}
