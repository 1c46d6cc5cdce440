import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { call } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { ConfirmChange } from '../design/dialog.tsx';
import { toastDone } from '../design/toast.tsx';
import type { FormLine } from './forms-query.ts';
import { sayCount } from '#ast/say-count.ts';

type Props = { form: FormLine; isOpen: boolean; onClose: () => void };

/** Asks for the form's name, and says how many submissions go with it. */
export function DeleteFormDialog({ form, isOpen, onClose }: Props): ReactElement {
  const erase = useMutation({
    mutationFn: () => call(form.workspace_id, 'deleteForm', { params: { id: form.id } }, { seen: form }),
    async onSuccess() {
      toastDone(`${form.name} was deleted.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: ['forms'] });
    },
  });
  const count = form.submission_count;
  return (
    <ConfirmChange
      title="Delete this form for good?"
      isOpen={isOpen}
      onClose={onClose}
      confirmLabel="Delete form"
      change={erase}
      typed={form.name}
    >
      <p>
        {count === 0 ? (
          'It has no submissions. Its webhooks and their log go with it.'
        ) : (
          <>
            Its <strong>{sayCount(count, 'submission')}</strong>, their files and its webhooks are deleted
            too. This cannot be undone.
          </>
        )}
      </p>
      {form.status !== 'archived' && count > 0 && (
        <p className="soft">To keep them and only stop taking answers, archive it instead.</p>
      )}
    </ConfirmChange>
  );
}
