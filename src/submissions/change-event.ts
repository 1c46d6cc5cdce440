import type { Answers } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { now } from '#kit/clock.ts';
import { type EventKind, snapshotOf } from '#webhooks/event.ts';
import type { SubmissionEvent } from '#webhooks/record-event.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import type { SubmissionStatus } from './submission-rows.ts';

/**
 * A stored submission with the data of an event. Its fields and form name are those of the version that was
 * answered.
 */
export type StoredSubmission = {
  id: string;
  status: SubmissionStatus;
  completed_at: Date | null;
  answers: Answers;
  reference: Record<string, string>;
  respondent: Respondent | null;
  fields: Readonly<Record<string, FieldDescription>>;
  form_name: string;
};

/** The workspace and form of a submission. */
export type FormKey = { workspaceId: string; formId: string };

/** Returns the event for a change of a submission that happens now. */
export function createChangeEvent(
  kind: EventKind,
  { workspaceId, formId }: FormKey,
  submission: StoredSubmission,
): SubmissionEvent {
  const { id, status, completed_at, answers, reference, respondent, fields, form_name } = submission;
  return {
    submissionId: id,
    kind,
    occurredAt: now(),
    fields,
    snapshot: snapshotOf({
      form: { id: formId, name: form_name, workspaceId },
      submission: { id, submittedAt: completed_at, status, reference, respondent, answers },
      fields,
    }),
  };
}
