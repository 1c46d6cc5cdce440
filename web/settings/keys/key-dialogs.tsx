import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Key, KeyRequest, NewKey } from '#workspaces/key-endpoints.ts';
import { call } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { FieldsDialog } from '../../design/fields.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Message } from '../../design/message.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { keyRequestsQuery } from '../workspace.ts';
import { draftOf, emptyDraft, KeyFields, readEdit, readNewKey } from './key-fields.tsx';

type KeyProps = { workspaceId: string; apiKey: Key; onClose: () => void };

/** A command that works with a key of these permissions (undefined: all of them): reading where it may read. */
function exampleCommand(apiKey: string, permissions: NewKey['permissions']): string {
  const may = (permission: NonNullable<NewKey['permissions']>[number]): boolean =>
    permissions === undefined || permissions.includes(permission);
  const base = `${window.location.origin}/api/v1`;
  const authorization = `-H "Authorization: Bearer ${apiKey}"`;
  if (may('forms:read')) return `curl ${base}/forms \\\n  ${authorization}`;
  if (may('submissions:read')) return `curl "${base}/submissions/search?q=hello" \\\n  ${authorization}`;
  const form = {
    type: 'form',
    attrs: { name: 'Hello' },
    children: [{ type: 'step', attrs: {}, children: [] }],
  };
  return [
    `curl ${base}/forms`,
    authorization,
    '-H "Content-Type: application/json"',
    `-d '${JSON.stringify({ structure: form })}'`,
  ].join(' \\\n  ');
}

/** Shows a key for the one time that it can be shown, and how to use it. */
function NewKeyDialog({
  name,
  apiKey,
  permissions,
  onClose,
}: {
  name: string;
  apiKey: string;
  permissions: NewKey['permissions'];
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title={`Your key “${name}”`}
      size="medium"
      isOpen
      onClose={onClose}
      isDismissable={false}
      done="I have stored it"
    >
      <Message tone="warn">Store it in a safe place now. It is not shown again.</Message>
      <CopyField label="API key" text={apiKey} />
      <CopyField label="Try it" text={exampleCommand(apiKey, permissions)} isMultiline />
    </Dialog>
  );
}

/** Makes a key, then shows it this once. */
export function CreateKeyDialog({ workspaceId, onClose }: Omit<KeyProps, 'apiKey'>): ReactElement {
  const [draft, setDraft] = useState(emptyDraft);
  const create = useAction({ run: () => call(workspaceId, 'createKey', { body: readNewKey(draft) }) });
  if (create.data)
    return (
      <NewKeyDialog
        name={draft.name}
        apiKey={create.data.key}
        permissions={readNewKey(draft).permissions}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title="Create API key"
      size="medium"
      isOpen
      onClose={onClose}
      action={create}
      onSubmit={create.mutate}
      submitLabel="Create key"
    >
      <KeyFields
        workspaceId={workspaceId}
        draft={draft}
        expiresAt={null}
        action={create}
        onChange={(part) => setDraft({ ...draft, ...part })}
      />
    </FormDialog>
  );
}

/** Changes what a key may do; the key itself stays as it is, in the programs that use it too. */
export function EditKeyDialog({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const [begun] = useState(apiKey);
  const [draft, setDraft] = useState(() => draftOf(begun));
  const save = useAction({
    run: () =>
      call(
        workspaceId,
        'changeKey',
        { params: { id: begun.id }, body: readEdit(draft, begun.expires_at) },
        { seen: begun },
      ),
    done: `The key ${draft.name} was changed.`,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={`Change ${apiKey.name}`}
      description="It acts at once. Programs that use the key need no other one."
      size="medium"
      isOpen
      onClose={onClose}
      action={save}
      onSubmit={save.mutate}
      submitLabel="Save"
    >
      <KeyFields
        workspaceId={workspaceId}
        draft={draft}
        expiresAt={begun.expires_at}
        action={save}
        onChange={(part) => setDraft({ ...draft, ...part })}
      />
    </FormDialog>
  );
}

const graces = [
  { id: '0', label: 'Not at all: the present one is refused at once' },
  { id: '1', label: 'For an hour' },
  { id: '24', label: 'For a day' },
  { id: '168', label: 'For a week' },
] as const;

/** Gives a key another secret, shown this once; the present one works on for a while. */
export function RotateKeyDialog({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const rotate = useAction({
    run: ({ grace }: { grace: string }) =>
      call(workspaceId, 'rotateKey', { params: { id: apiKey.id }, body: { grace_hours: Number(grace) } }),
  });
  if (rotate.data)
    return (
      <NewKeyDialog
        name={apiKey.name}
        apiKey={rotate.data.key}
        permissions={apiKey.permissions ?? undefined}
        onClose={onClose}
      />
    );
  return (
    <FieldsDialog
      title={`Rotate ${apiKey.name}`}
      description="The key gets another secret; its name, permissions and history stay."
      onClose={onClose}
      submitLabel="Rotate key"
      action={rotate}
      begin={{ grace: '24' }}
      fields={{
        grace: {
          label: 'How long does the present one work on?',
          description: 'So that your programs can be changed over one after the other.',
          choices: graces,
        },
      }}
    />
  );
}

const requestColumns: readonly TableColumn<KeyRequest>[] = [
  {
    id: 'request',
    title: 'Request',
    cell: ({ id, method, path }) => (
      <div className="key-request">
        <code>
          {method} {path}
        </code>
        <code className="soft small">{id}</code>
      </div>
    ),
  },
  {
    id: 'status',
    title: 'Status',
    cell: ({ status }) => <Chip tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Chip>,
  },
  { id: 'ms', title: 'Time', isNumeric: true, isSecondary: true, cell: ({ ms }) => `${ms} ms` },
  { id: 'at', title: 'When', isSecondary: true, cell: ({ requested_at }) => <Ago at={requested_at} /> },
];

/** What a key did lately; the id under a request is X-Request-Id of its answer. */
export function KeyRequestsDialog({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const requests = useQuery(keyRequestsQuery(workspaceId, apiKey.id));
  return (
    <Dialog
      title={`Requests of ${apiKey.name}`}
      description="The latest 100, about a second after they were answered. Below each is the X-Request-Id of its answer."
      size="large"
      isOpen
      onClose={onClose}
      actions={
        <Button icon="refresh" onPress={() => void requests.refetch()}>
          Refresh
        </Button>
      }
      done="Done"
    >
      <QueryState
        query={requests}
        empty={
          <EmptyState icon="key" title="No requests yet">
            <p>Once a program uses this key, what it asks for is listed here.</p>
          </EmptyState>
        }
      >
        {(rows) => (
          <DataTable label="Latest requests" columns={requestColumns} rows={rows} rowId={({ id }) => id} />
        )}
      </QueryState>
    </Dialog>
  );
}
