import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Key, NewKey, RecentKeyRequest } from '#workspaces/key-endpoints.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { CopyField, CopyText } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { FieldsDialog, FormDialog } from '../../design/form-dialog.tsx';
import { Message } from '../../design/message.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { keyRequestsQuery } from '../workspace.ts';
import { emptyDraft, KeyFields, keyChangeOfDraft, keyDraftOf, newKeyOfDraft } from './key-fields.tsx';

type KeyProps = { workspaceId: string; apiKey: Key; onClose: () => void };

/** Returns an example command that the permissions allow (undefined: all), preferably one that reads. */
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

/** Shows a new key and how to use it. A key is shown only once. */
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
      onClose={onClose}
      isDismissable={false}
      done="I have saved it"
    >
      <Message tone="warn">Copy this key now. It will not be shown again.</Message>
      <CopyField label="API key" text={apiKey} />
      <CopyField label="Example request" text={exampleCommand(apiKey, permissions)} isMultiline />
    </Dialog>
  );
}

/** Creates a key, then shows it once. */
export function CreateKeyDialog({ workspaceId, onClose }: Omit<KeyProps, 'apiKey'>): ReactElement {
  const [draft, setDraft] = useState(emptyDraft);
  const create = useAction({
    run: () => callOperation(workspaceId, 'createKey', { body: newKeyOfDraft(draft) }),
  });
  if (create.data)
    return (
      <NewKeyDialog
        name={draft.name}
        apiKey={create.data.key}
        permissions={newKeyOfDraft(draft).permissions}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title="Create API key"
      size="medium"
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

/** Changes what a key may do. The secret stays the same, so programs need no update. */
export function EditKeyDialog({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const [begun] = useState(apiKey);
  const [draft, setDraft] = useState(() => keyDraftOf(begun));
  const save = useAction({
    run: () =>
      callOperation(
        workspaceId,
        'changeKey',
        { params: { id: begun.id }, body: keyChangeOfDraft(draft, begun.expires_at) },
        { seen: begun },
      ),
    done: `The key ${draft.name} was changed.`,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={`Change ${apiKey.name}`}
      description="Changes apply immediately. The key itself stays the same."
      size="medium"
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
  { id: '0', label: 'It stops immediately' },
  { id: '1', label: 'For one hour' },
  { id: '24', label: 'For one day' },
  { id: '168', label: 'For one week' },
] as const;

/** Gives a key a new secret and shows it once. The old secret can keep working for a while. */
export function RotateKeyDialog({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const rotate = useAction({
    run: ({ grace }: { grace: string }) =>
      callOperation(workspaceId, 'rotateKey', {
        params: { id: apiKey.id },
        body: { grace_hours: Number(grace) },
      }),
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
      description="Creates a new secret. The name, permissions and history of the key stay the same."
      onClose={onClose}
      submitLabel="Rotate key"
      action={rotate}
      begin={{ grace: '24' }}
      fields={{
        grace: {
          label: 'How long the old secret keeps working',
          description: 'Gives you time to update your programs.',
          choices: graces,
        },
      }}
    />
  );
}

const requestColumns: readonly TableColumn<RecentKeyRequest>[] = [
  {
    id: 'request',
    title: 'Request',
    cell: ({ id, method, path }) => (
      <div className="key-request">
        <code>
          {method} {path}
        </code>
        <CopyText label="request ID" text={id} />
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

/** Lists recent requests of a key. The ID under each request is the X-Request-Id of its response. */
export function KeyRequestsDialog({ workspaceId, apiKey, onClose }: KeyProps): ReactElement {
  const requests = useQuery(keyRequestsQuery(workspaceId, apiKey.id));
  return (
    <Dialog
      title={`Requests made with ${apiKey.name}`}
      description="Shows the latest 100 requests, about a second after each response. The X-Request-Id is below each request."
      size="large"
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
            <p>Requests appear here when a program uses this key.</p>
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
