import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem, isStale, unlocatedProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { ChangedMeanwhile } from '../../design/changed-meanwhile.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { toastDone } from '../../design/toast.tsx';
import { keysQuery } from '../workspace.ts';
import { draftOf, readEdit } from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';
import type { KeyProps } from './key-props.ts';

/** Changes what a key may do; the key itself stays as it is, in the programs that use it too. */
export function EditKeyDialog({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const [begun] = useState(apiKey);
  const [draft, setDraft] = useState(() => draftOf(begun));
  const save = useMutation({
    mutationFn: () =>
      call(
        workspaceId,
        'changeKey',
        { params: { id: begun.id }, body: readEdit(draft, begun.expires_at) },
        { seen: begun },
      ),
    async onSuccess() {
      await queryClient.invalidateQueries(keysQuery(workspaceId));
      toastDone(`The key ${draft.name} was changed.`);
      onClose();
    },
  });
  const problem = save.error instanceof ApiProblem ? save.error : undefined;
  return (
    <FormDialog
      title={`Change ${apiKey.name}`}
      description="It acts at once. Programs that use the key need no other one."
      size="medium"
      isOpen
      onClose={onClose}
      onSubmit={() => save.mutate()}
      submitLabel="Save"
      isPending={save.isPending}
      error={isStale(save.error) ? undefined : unlocatedProblem(save.error)}
    >
      <KeyFields
        workspaceId={workspaceId}
        draft={draft}
        expiresAt={begun.expires_at}
        problem={problem}
        onChange={(part) => setDraft({ ...draft, ...part })}
      />
      {isStale(save.error) && <ChangedMeanwhile error={save.error} onDiscard={onClose} />}
    </FormDialog>
  );
}
