import { type ReactElement, useState } from 'react';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { ApiProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { receivedAt } from '../../api/received-at.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { formatDateTime } from '../../design/time.tsx';
import type { FormLocation } from '../queries.ts';
import { useChange } from './edit/use-change.tsx';

/** Marks a submission as completed or incomplete. If it cannot be completed, the reasons are listed. */
export function StatusSwitch({
  form,
  submission,
}: {
  form: FormLocation;
  submission: SubmissionDetail;
}): ReactElement {
  const [isExplaining, setExplaining] = useState(false);
  const change = useChange(form, submission, {
    sayDone: ({ status }) => `Marked as ${status}.`,
    takeBack:
      ({ on, made }) =>
      (_, since) => {
        if (since.some(({ status }) => status !== made.status))
          throw new Error('The status has been changed since.');
        return { status: on.status };
      },
  });
  const isCompleted = submission.status === 'completed';
  const next = isCompleted ? 'incomplete' : 'completed';
  const errors = change.error instanceof ApiProblem ? change.error.errors : [];
  return (
    <>
      <Button
        size="small"
        icon={isCompleted ? 'undo' : 'check'}
        isPending={change.isPending}
        onPress={() => change.mutate({ status: next }, { onError: () => setExplaining(true) })}
      >
        {isCompleted ? 'Mark as incomplete' : 'Mark as completed'}
      </Button>
      <Dialog
        title="The status was not changed"
        role="alertdialog"
        isOpen={isExplaining}
        onClose={() => setExplaining(false)}
        done="Close"
      >
        <p>{change.error?.message}</p>
        {errors.length > 0 && (
          <ul>
            {errors.map(({ field, message }) => (
              <li key={`${field} ${message}`}>{message}</li>
            ))}
          </ul>
        )}
      </Dialog>
    </>
  );
}

/** Moves a submission to the trash, after asking. */
export function DeleteButton({
  form,
  submission,
  onDeleted,
}: {
  form: FormLocation;
  submission: SubmissionDetail;
  onDeleted: () => void;
}): ReactElement {
  const place = { params: { id: submission.id } };
  const remove = useAction({
    run: () => call(form.workspace_id, 'deleteSubmission', place, { seen: submission }),
    confirm: {
      title: 'Delete this submission?',
      label: 'Delete submission',
      text: `The submission from ${formatDateTime(receivedAt(submission))} will be moved to the trash. You can restore it for 30 days. Then it is permanently deleted with its files.`,
    },
    onLeave() {
      onDeleted();
      queryClient.removeQueries({ queryKey: ['viewSubmission', form.workspace_id, place] });
    },
    done: {
      text: 'The submission was moved to the trash.',
      action: { label: 'Undo', run: () => call(form.workspace_id, 'restoreSubmission', place) },
    },
  });
  return (
    <>
      <Button size="small" variant="quiet" icon="remove" {...remove.press()}>
        Delete
      </Button>
      {remove.dialog}
    </>
  );
}
