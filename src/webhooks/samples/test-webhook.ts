import { ApiError } from '#kit/errors.ts';
import { snapshotOf } from '../event.ts';
import { sendSubmissionTests, sendTest, type SendTestContext, type TestOf } from './send-test.ts';
import { json, statement } from '#kit/statement.ts';
import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';

/** The last completed submissions of a form, newest first, with what a webhook tells of them. */
const selectLatestSubmissions = statement(
  'webhooks.select_latest_submissions',
  'workspace_id form_id limit',
  [
    'id completed_at? form_name',
    {
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      fields: json<Record<string, FieldDescription>>(),
    },
  ],
  `select s.id, s.completed_at, s.answers, s.reference, v.fields, v.name as form_name
     from submissions s
     join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
    where s.workspace_id = $workspace_id and s.form_id = $form_id and s.status = 'completed' and s.trashed_at is null
    order by s.id desc
    limit $limit`,
);

/**
 * Sends a test: of a sample of the form, or of its last completed submissions, to the webhook or to another address.
 * @returns the ids of the deliveries, in whose log the outcomes will stand.
 * @throws ApiError as sendTest; conflict when the form has no completed submission.
 */
export async function testWebhook(
  context: SendTestContext,
  { formId, submissions, ...test }: TestOf & { formId: string; submissions: number | undefined },
): Promise<string[]> {
  if (submissions === undefined) return [(await sendTest(context, test)).deliveryId];
  const rows = await selectLatestSubmissions(context.database, {
    workspace_id: test.workspaceId,
    form_id: formId,
    limit: submissions,
  });
  if (rows.length === 0) throw new ApiError('conflict', 'This form has no completed submission yet.');
  // The oldest first, as they came.
  const snapshots = rows.toReversed().map(({ id, completed_at, answers, reference, fields, form_name }) =>
    snapshotOf({
      form: { id: formId, name: form_name, workspaceId: test.workspaceId },
      submission: { id, submittedAt: completed_at, status: 'completed', reference, answers },
      fields,
    }),
  );
  return sendSubmissionTests(context, test, snapshots);
}
