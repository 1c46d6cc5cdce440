import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { CreatedKey, NewKey } from '#console/accounts/shapes.ts';
import { ApiProblem, post } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { CheckboxGroup, RadioGroup } from '../design/checkbox.tsx';
import { Dialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { Select } from '../design/select.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { permissionChoices } from './permissions.ts';
import { keysQuery } from './workspace.ts';

type Permissions = NonNullable<NewKey['permissions']>;
type Draft = { name: string; reach: 'all' | 'some'; permissions: Permissions; days: Days };

const lifetimes = [
  { id: '0', label: 'Does not expire' },
  { id: '30', label: 'In 30 days' },
  { id: '90', label: 'In 90 days' },
  { id: '365', label: 'In a year' },
] as const;
type Days = (typeof lifetimes)[number]['id'];

const reaches = [
  {
    id: 'all',
    label: 'Everything',
    description: 'All of the workspace’s data, also what later versions add.',
  },
  { id: 'some', label: 'Only some', description: 'What you choose below.' },
] as const;

const emptyDraft: Draft = { name: '', reach: 'all', permissions: [], days: '0' };

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
    mutationFn: () => post<CreatedKey>(`/workspaces/${workspaceId}/keys`, readDraft(draft)),
    onSuccess: () => queryClient.invalidateQueries(keysQuery(workspaceId)),
  });
  const close = (): void => {
    setDraft(emptyDraft);
    create.reset();
    onClose();
  };
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  if (create.data) {
    return (
      <NewKeyDialog
        name={draft.name}
        apiKey={create.data.key}
        permissions={readDraft(draft).permissions}
        isOpen={isOpen}
        onClose={close}
      />
    );
  }
  const problem = create.error instanceof ApiProblem ? create.error : undefined;
  return (
    <Dialog
      title="Create API key"
      size="medium"
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => create.mutate()}
      actions={
        <>
          <Button onPress={close}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={create.isPending}>
            Create key
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        description="What uses it, such as “Nightly export”."
        value={draft.name}
        onChange={(name) => set({ name })}
        error={problem?.of('name')}
        autoFocus
        autoComplete="off"
      />
      <RadioGroup label="It may" choices={reaches} value={draft.reach} onChange={(reach) => set({ reach })} />
      {draft.reach === 'some' && (
        <CheckboxGroup
          label="Permissions"
          choices={permissionChoices}
          value={draft.permissions}
          onChange={(permissions) => set({ permissions })}
          error={problem?.of('permissions')}
        />
      )}
      <Select
        label="Expires"
        choices={lifetimes}
        value={draft.days}
        onChange={(days) => set({ days })}
        error={problem?.of('expires_at')}
      />
      {create.error && !(problem && problem.errors.length > 0) && (
        <Message tone="bad">{create.error.message}</Message>
      )}
    </Dialog>
  );
}

function readDraft({ name, reach, permissions, days }: Draft): NewKey {
  const expires = new Date();
  expires.setDate(expires.getDate() + Number(days));
  return {
    name,
    ...(reach === 'some' && { permissions }),
    ...(days !== '0' && { expires_at: expires.toISOString() }),
  };
}
