import { ApiError } from '#kit/errors.ts';
import { snapshotOf } from '../event.ts';
import { type SendTestContext, sendSubmissionTests, sendTest, type TestOf } from './send-test.ts';
import { selectLatestSubmissions } from '../log/queries.ts';

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
