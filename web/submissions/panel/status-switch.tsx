import { type ReactElement, useState } from 'react';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { ApiProblem } from '../../api/client.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import type { FormPlace } from '../queries.ts';
import { useChange } from './edit/use-change.ts';

/** Completes a submission, or opens it again. What keeps it from being completed is listed. */
export function StatusSwitch({
  form,
  submission,
}: {
  form: FormPlace;
  submission: SubmissionDetail;
}): ReactElement {
  const [isExplaining, setExplaining] = useState(false);
  const change = useChange(form, submission, {
    sayDone: ({ status }) => `Marked as ${status}.`,
    takeBack:
      ({ on, made }) =>
      (_, since) => {
        if (since.some(({ status }) => status !== made.status))
          throw new Error('The status was changed again since.');
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
