import { questionsById } from '#ast/fields.ts';
import { type Form, listQuestions } from '#ast/tree.ts';
import { requireForm } from '#forms/require-form.ts';
import { prefillableOf } from '#invitations/draft.ts';
import { listBatches } from '#invitations/import/queries.ts';
import { defaultMessage } from '#invitations/message/message.ts';
import { placeholders } from '#invitations/message/placeholders.ts';
import { countInvitations } from '#invitations/queries.ts';
import { invitationStatuses } from '#invitations/status.ts';
import { consoleEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { type InvitationsOverview, InvitationsPath } from './shapes.ts';

/** How many of the last batches are shown with their progress. */
const shownBatches = 5;

/** How far a form's invitations have come, and what inviting begins with. */
export const overviewEndpoint = ({ database, config }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: InvitationsPath,
    async run({ workspaceId, params }) {
      const key = { workspace_id: workspaceId, form_id: params.form };
      const found = await requireForm(database, { workspaceId, formId: params.form });
      const form = found.structure as Form;
      const [counted, batches] = await Promise.all([
        countInvitations(database, key),
        listBatches(database, { ...key, limit: shownBatches }),
      ]);
      const byStatus = new Map(counted.map(({ status, count }) => [status, count]));
      const isPrefillable = prefillableOf(form);
      const body: Omit<InvitationsOverview, 'batches'> & { batches: object[] } = {
        access: found.settings.access ?? 'public',
        counts: Object.fromEntries(
          invitationStatuses.map((status) => [status, byStatus.get(status) ?? 0]),
        ) as InvitationsOverview['counts'],
        mails_per_minute: config.smtp === undefined ? null : config.mailPerMinute,
        batches: batches.map(
          ({ id, total, created, skipped, is_mailed, waiting, created_at, created_by }) => ({
            id,
            total,
            created,
            skipped,
            is_mailed,
            waiting,
            created_at,
            created_by,
          }),
        ),
        message: lastMessage(batches[0]),
        placeholders,
        questions: [...questionsById(listQuestions(form))]
          .filter(([id]) => isPrefillable(id))
          .map(([id, { element }]) => ({ id, label: element.attrs.label })),
      };
      return { status: 200, body };
    },
  });

type Batch = Awaited<ReturnType<typeof listBatches>>[number];

/** What was said last: the next batch mostly says the same. */
const lastMessage = (batch: Batch | undefined): InvitationsOverview['message'] =>
  batch
    ? {
        subject: batch.subject,
        message: batch.message,
        reminder_subject: batch.reminder_subject,
        reminder_message: batch.reminder_message,
        remind_after_days: batch.remind_after_days,
      }
    : {
        subject: defaultMessage.subject,
        message: defaultMessage.message,
        reminder_subject: null,
        reminder_message: null,
        remind_after_days: [],
      };
