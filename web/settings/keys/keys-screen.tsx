import './keys-screen.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { permissionLabel, roles } from '#rules/permissions.ts';
import type { Key } from '#workspaces/key-endpoints.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { Menu } from '../../design/menu.tsx';
import { SettingsPage } from '../../design/page.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, formatDate, formatDateTime } from '../../design/time.tsx';
import { keysQuery, useWorkspace } from '../workspace.ts';
import { CreateKeyDialog, EditKeyDialog, KeyRequestsDialog, RotateKeyDialog } from './key-dialogs.tsx';

type Doing = 'edit' | 'rotate' | 'requests';

/** The actions for one key. A key that has ended can only be viewed, not changed. */
function KeyActions({
  workspaceId,
  apiKey,
  isActive,
}: {
  workspaceId: string;
  apiKey: Key;
  isActive: boolean;
}): ReactElement {
  const [doing, setDoing] = useState<Doing>();
  const props = { workspaceId, apiKey, onClose: () => setDoing(undefined) };
  const revoke = useAction({
    run: () => callOperation(workspaceId, 'revokeKey', { params: { id: apiKey.id } }, { seen: apiKey }),
    confirm: {
      title: `Revoke ${apiKey.name}?`,
      label: 'Revoke key',
      text: (
        <>
          Programs that use <code>{apiKey.prefix}…</code> will be refused. This cannot be undone.
        </>
      ),
    },
    done: `The key ${apiKey.name} was revoked.`,
  });
  const changes = [
    { id: 'edit', label: 'Change', icon: 'edit', onAction: () => setDoing('edit') },
    { id: 'rotate', label: 'Rotate', icon: 'refresh', onAction: () => setDoing('rotate') },
  ] as const;
  const end = [
    { id: 'end', separator: true },
    { id: 'revoke', label: 'Revoke', icon: 'remove', isDanger: true, onAction: () => revoke.start() },
  ] as const;
  return (
    <>
      <Menu
        items={[
          ...(isActive ? changes : []),
          { id: 'requests', label: 'Recent requests', icon: 'history', onAction: () => setDoing('requests') },
          ...(apiKey.revoked_at ? [] : end),
        ]}
      >
        <IconButton icon="more" size="small" label={`Actions for ${apiKey.name}`} />
      </Menu>
      {doing === 'edit' && <EditKeyDialog {...props} />}
      {doing === 'rotate' && <RotateKeyDialog {...props} />}
      {doing === 'requests' && <KeyRequestsDialog {...props} />}
      {revoke.dialog}
    </>
  );
}

export function KeysScreen(): ReactElement {
  const workspace = useWorkspace();
  const keys = useQuery(keysQuery(workspace.id));
  const [isCreating, setCreating] = useState(false);
  const create = (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      Create key
    </Button>
  );
  const columns: TableColumn<Key>[] = [
    { id: 'name', title: 'Key', cell: (key) => <KeyName apiKey={key} /> },
    { id: 'may', title: 'Access', isSecondary: true, cell: (key) => <KeyReach apiKey={key} /> },
    { id: 'used', title: 'Last used', isSecondary: true, cell: (key) => <KeyUse apiKey={key} /> },
    {
      id: 'requests',
      title: 'Last 7 days',
      isNumeric: true,
      isSecondary: true,
      cell: ({ requests }) => requests.toLocaleString(),
    },
    { id: 'state', title: 'Status', cell: (key) => <KeyState apiKey={key} /> },
    {
      id: 'actions',
      title: <span className="unseen">Actions</span>,
      isNumeric: true,
      cell: (key) => (
        <KeyActions workspaceId={workspace.id} apiKey={key} isActive={stateOf(key) === 'active'} />
      ),
    },
  ];
  return (
    <SettingsPage
      title="API keys"
      lead={
        <>
          An API key lets a program work with this workspace. <a href="/api/v1/docs">API reference</a>
        </>
      }
      actions={keys.data && keys.data.length > 0 && create}
    >
      <QueryState
        query={keys}
        showsError
        empty={
          <EmptyState icon="key" title="No API keys yet" action={create}>
            <p>
              With a key, your programs can create forms, and read and search submissions. Create a separate
              key for each program, so you can revoke one without affecting the others.
            </p>
          </EmptyState>
        }
      >
        {(rows) => <DataTable label="API keys" columns={columns} rows={rows} rowId={({ id }) => id} />}
      </QueryState>
      {isCreating && <CreateKeyDialog workspaceId={workspace.id} onClose={() => setCreating(false)} />}
    </SettingsPage>
  );
}

function stateOf({ revoked_at, expires_at }: Key): 'active' | 'revoked' | 'expired' {
  if (revoked_at) return 'revoked';
  return expires_at && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
}

function KeyName({ apiKey }: { apiKey: Key }): ReactElement {
  return (
    <div className="key-name">
      <span className="key-title">{apiKey.name}</span>
      <code className="soft">{apiKey.prefix}…</code>
      <span className="soft small">
        Created <Ago at={apiKey.created_at} />
        {apiKey.created_by && ` by ${apiKey.created_by}`}
      </span>
    </div>
  );
}

/** The number of permissions that are shown without opening the list. */
const fewPermissions = 3;

function Permissions({ permissions }: Pick<Key, 'permissions'>): ReactElement {
  if (permissions === null) return <span>All data</span>;
  const listed = <span>{permissions.map(permissionLabel).join(', ')}</span>;
  if (permissions.length <= fewPermissions) return listed;
  return (
    <details>
      <summary>{formatCount(permissions.length, 'permission')}</summary>
      {listed}
    </details>
  );
}

function KeyReach({ apiKey }: { apiKey: Key }): ReactElement {
  const { permissions, form_ids, withheld, created_by, created_by_role } = apiKey;
  return (
    <div className="key-name">
      <Permissions permissions={permissions} />
      {form_ids && <span className="soft small">in {formatCount(form_ids.length, 'form')}</span>}
      {created_by_role !== null && withheld.length > 0 && (
        <span className="small">
          <Chip tone="warn">Limited</Chip> {created_by} is {roles[created_by_role].label.toLowerCase()} now,
          so the key cannot: {withheld.map(permissionLabel).join(', ')}. If you rotate the key, it uses your
          role instead.
        </span>
      )}
    </div>
  );
}

function KeyUse({ apiKey: { last_used_at, last_used_address } }: { apiKey: Key }): ReactElement {
  if (!last_used_at) return <span className="soft">Never</span>;
  return (
    <div className="key-name">
      <Ago at={last_used_at} />
      {last_used_address && <span className="soft small">from {last_used_address}</span>}
    </div>
  );
}

function KeyState({ apiKey }: { apiKey: Key }): ReactElement {
  const state = stateOf(apiKey);
  return (
    <div className="key-state">
      <StatusChip status={state} />
      {state === 'active' && (
        <span className="soft small">
          {apiKey.expires_at ? `until ${formatDate(apiKey.expires_at)}` : 'does not expire'}
        </span>
      )}
      {state === 'active' && apiKey.former_until && (
        <span className="soft small">the old secret works until {formatDateTime(apiKey.former_until)}</span>
      )}
    </div>
  );
}
