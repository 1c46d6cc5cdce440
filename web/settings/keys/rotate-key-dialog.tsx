import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { unlocatedProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Select } from '../../design/select.tsx';
import { keysQuery } from '../workspace.ts';
import type { KeyProps } from './key-props.ts';
import { NewKeyDialog } from './new-key-dialog.tsx';

const graces = [
  { id: '0', label: 'Not at all: the present one is refused at once' },
  { id: '1', label: 'For an hour' },
  { id: '24', label: 'For a day' },
  { id: '168', label: 'For a week' },
] as const;
type Grace = (typeof graces)[number]['id'];

/** Gives a key another secret, shown this once; the present one works on for a while. */
export function RotateKeyDialog({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const [grace, setGrace] = useState<Grace>('24');
  const rotate = useMutation({
    mutationFn: () =>
      call(workspaceId, 'rotateKey', { params: { id: apiKey.id }, body: { grace_hours: Number(grace) } }),
    onSuccess: () => queryClient.invalidateQueries(keysQuery(workspaceId)),
  });
  if (rotate.data) {
    return (
      <NewKeyDialog
        name={apiKey.name}
        apiKey={rotate.data.key}
        permissions={apiKey.permissions ?? undefined}
        isOpen
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title={`Rotate ${apiKey.name}`}
      description="The key gets another secret; its name, permissions and history stay."
      isOpen
      onClose={onClose}
      onSubmit={() => rotate.mutate()}
      submitLabel="Rotate key"
      isPending={rotate.isPending}
      error={unlocatedProblem(rotate.error)}
    >
      <Select
        label="How long does the present one work on?"
        description="So that your programs can be changed over one after the other."
        choices={graces}
        value={grace}
        onChange={setGrace}
      />
    </FormDialog>
  );
}
