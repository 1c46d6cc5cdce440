import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { FormDialog } from '../../design/form-dialog.tsx';
import type { Bulk, FormPlace } from '../queries.ts';
import type { filterOf } from '../view-state.ts';
import { saySubmissions } from '../say-submissions.ts';
import { TagField, tagsIn } from '../tags.tsx';

type Props = {
  form: FormPlace;
  chosen: { ids: string[] } | { filter: ReturnType<typeof filterOf> };
  count: number;
  onClose: () => void;
  onStart: (bulk: Bulk) => void;
};

/** Tags many at once: adds some, takes others away. */
export function TagDialog({ form, chosen, count, onClose, onStart }: Props): ReactElement {
  const [added, setAdded] = useState('');
  const [removed, setRemoved] = useState('');
  const tags = { add: tagsIn(added), remove: tagsIn(removed) };
  const start = useMutation({
    mutationFn: () =>
      call(form.workspace_id, 'startTagging', {
        params: { id: form.id },
        body: { ...chosen, ...tags, expected: count },
      }),
    onSuccess: onStart,
  });
  const isEmpty = tags.add.length + tags.remove.length === 0;
  return (
    <FormDialog
      title={`Tag ${saySubmissions(count)}`}
      isOpen
      onClose={onClose}
      onSubmit={() => !isEmpty && start.mutate()}
      submitLabel={`Tag ${saySubmissions(count)}`}
      isDisabled={isEmpty}
      isPending={start.isPending}
      error={start.error?.message}
    >
      <TagField
        form={form}
        label="Add tags"
        description="Several with commas between them."
        value={added}
        onChange={setAdded}
      />
      <TagField form={form} label="Remove tags" value={removed} onChange={setRemoved} />
    </FormDialog>
  );
}
