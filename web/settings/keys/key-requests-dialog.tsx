import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { KeyRequest } from '#workspaces/keys/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { keyRequestsQuery } from '../workspace.ts';
import type { KeyProps } from './key-props.ts';

const columns: readonly TableColumn<KeyRequest>[] = [
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
  const { data, error, refetch } = useQuery(keyRequestsQuery(workspaceId, apiKey.id));
  return (
    <Dialog
      title={`Requests of ${apiKey.name}`}
      description="The latest 100, about a second after they were answered. Below each is the X-Request-Id of its answer."
      size="large"
      isOpen
      onClose={onClose}
      actions={
        <Button icon="refresh" onPress={() => void refetch()}>
          Refresh
        </Button>
      }
      done="Done"
    >
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading />
      ) : data.length === 0 ? (
        <EmptyState icon="key" title="No requests yet">
          <p>Once a program uses this key, what it asks for is listed here.</p>
        </EmptyState>
      ) : (
        <DataTable label="Latest requests" columns={columns} rows={data} rowId={({ id }) => id} />
      )}
    </Dialog>
  );
}
