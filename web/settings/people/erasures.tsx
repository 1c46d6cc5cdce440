import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Card } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { type Erasure, erasuresQuery } from './people-query.ts';
import { saveReceipt, sayGone } from './receipt.tsx';

const columns: readonly TableColumn<Erasure>[] = [
  {
    id: 'gone',
    title: 'Gone',
    cell: ({ gone, finished_at, failed_reason }) =>
      finished_at === null ? (failed_reason === null ? 'On its way' : 'Stopped') : sayGone(gone),
  },
  {
    id: 'who',
    title: 'By',
    isSecondary: true,
    cell: ({ requested_by }) => requested_by ?? 'Somebody who is gone',
  },
  { id: 'when', title: 'When', isSecondary: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    id: 'receipt',
    title: 'Receipt',
    cell: (erasure) =>
      erasure.finished_at !== null && (
        <Button icon="download" size="small" onPress={() => saveReceipt(erasure)}>
          Download
        </Button>
      ),
  },
];

/** The receipts of what was erased: they name nobody. */
export function Erasures({ workspace }: { workspace: string }): ReactElement | null {
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useQuery(erasuresQuery(workspace, page));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading label="Loading the receipts …" />;
  if (data.pagination.total_count === 0) return null;
  return (
    <Card title="Receipts" lead="How much was erased, by whom and when. They name nobody.">
      <DataTable label="Receipts" columns={columns} rows={data.data} rowId={({ id }) => id} />
      <Pager label="Pages of receipts" page={page} pagination={data.pagination} onChange={setPage} />
    </Card>
  );
}
