import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { SubmissionDetail } from '#console/submissions/shapes.ts';
import { remove } from '../../api/client.ts';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { toastDone } from '../../design/toast.tsx';
import { sayMoment } from '../../design/time.tsx';
import { type FormPlace, refreshSubmissions, submissionsPath } from '../queries.ts';

type Props = { form: FormPlace; submission: SubmissionDetail; onCancel: () => void; onDeleted: () => void };

/** Asks before one submission goes. */
export function DeleteSubmission({ form, submission, onCancel, onDeleted }: Props): ReactElement {
  const client = useQueryClient();
  const deletion = useMutation({
    mutationFn: () => remove(`${submissionsPath(form)}/${submission.id}`),
    async onSuccess() {
      // First away from it: nobody asks for what is gone.
      onDeleted();
      client.removeQueries({ queryKey: ['submissions', form.id, 'detail', submission.id] });
      toastDone('The submission was deleted.');
      await refreshSubmissions(form);
    },
  });
  return (
    <ConfirmDialog
      title="Delete this submission?"
      isOpen
      onClose={onCancel}
      confirmLabel="Delete submission"
      isPending={deletion.isPending}
      error={deletion.error?.message}
      onConfirm={() => deletion.mutate()}
    >
      <p>
        The submission of {sayMoment(submission.created_at)} is deleted for good, with its files.
        {submission.completed_at && ' Webhooks that listen are told.'}
      </p>
    </ConfirmDialog>
  );
}
