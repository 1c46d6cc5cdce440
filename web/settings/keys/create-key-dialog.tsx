import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { FormDialog } from '../../design/form-dialog.tsx';
import { keysQuery } from '../workspace.ts';
import { emptyDraft, readNewKey } from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';

/** Makes a key, then shows it this once. */
export function CreateKeyDialog({
  workspaceId,
  isOpen,
  onClose,
}: {
  workspaceId: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  const [draft, setDraft] = useState(emptyDraft);
  const create = useMutation({
    mutationFn: () => call(workspaceId, 'createKey', { body: readNewKey(draft) }),
    onSuccess: () => queryClient.invalidateQueries(keysQuery(workspaceId)),
  });
  const close = (): void => {
    setDraft(emptyDraft);
    create.reset();
    onClose();
  };
  if (create.data) {
    return (
      <NewKeyDialog
        name={draft.name}
        apiKey={create.data.key}
        permissions={readNewKey(draft).permissions}
        isOpen={isOpen}
        onClose={close}
      />
    );
  }
  const problem = create.error instanceof ApiProblem ? create.error : undefined;
  return (
    <FormDialog
      title="Create API key"
      size="medium"
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => create.mutate()}
      submitLabel="Create key"
      isPending={create.isPending}
      error={unlocatedProblem(create.error)}
    >
      <KeyFields
        workspaceId={workspaceId}
        draft={draft}
        expiresAt={null}
        problem={problem}
        onChange={(part) => setDraft({ ...draft, ...part })}
      />
    </FormDialog>
  );
}
