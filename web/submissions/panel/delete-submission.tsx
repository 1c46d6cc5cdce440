import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { call } from '../../api/operations.ts';
import { ConfirmChange } from '../../design/dialog.tsx';
import { toastDone } from '../../design/toast.tsx';
import { sayMoment } from '../../design/time.tsx';
import { receivedAt } from '../../api/received-at.ts';
import { type FormPlace, refreshSubmissions } from '../queries.ts';

type Props = { form: FormPlace; submission: SubmissionDetail; onCancel: () => void; onDeleted: () => void };

/** Asks before one submission goes. */
export function DeleteSubmission({ form, submission, onCancel, onDeleted }: Props): ReactElement {
  const client = useQueryClient();
  const place = { params: { id: submission.id } };
  const deletion = useMutation({
    mutationFn: () => call(form.workspace_id, 'deleteSubmission', place, { seen: submission }),
    async onSuccess() {
      // First away from it: nobody asks for what is gone.
      onDeleted();
      client.removeQueries({ queryKey: ['submissions', form.id, 'detail', submission.id] });
      toastDone('The submission is in the trash.', { label: 'Undo', run: undo });
      await refreshSubmissions(form);
    },
  });
  const undo = async (): Promise<void> => {
    await call(form.workspace_id, 'restoreSubmission', place);
    await refreshSubmissions(form);
  };
  return (
    <ConfirmChange
      title="Delete this submission?"
      isOpen
      onClose={onCancel}
      confirmLabel="Delete submission"
      change={deletion}
    >
      <p>
        The submission of {sayMoment(receivedAt(submission))} goes to the trash, and can be restored for 30
        days. Then it is deleted for good, with its files.
      </p>
    </ConfirmChange>
  );
}
