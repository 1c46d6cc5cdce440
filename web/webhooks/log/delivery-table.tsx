import type { ReactElement } from 'react';
import { Button } from 'react-aria-components/Button';
import type { DeliveryLine } from '#webhooks/shapes.ts';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, AgoText, sayMoment } from '../../design/time.tsx';
import { Tooltip } from '../../design/tooltip.tsx';
import { sayAttempts, sayMs } from './delivery-words.ts';
import { shortEvent } from '../events.ts';

type Props = { deliveries: readonly DeliveryLine[]; mostAttempts: number; onOpen: (id: string) => void };

/** The delivery log. Specification, "Delivery and retry rules". */
export function DeliveryTable({ deliveries, mostAttempts, onOpen }: Props): ReactElement {
  const columns: TableColumn<DeliveryLine>[] = [
    { id: 'time', title: 'Time', cell: (line) => <OpenDelivery line={line} onOpen={onOpen} /> },
    { id: 'event', title: 'Event', isSecondary: true, cell: ({ event }) => shortEvent(event) },
    {
      id: 'status',
      title: 'Status',
      cell: ({ status, is_test }) => (
        <span className="row">
          <StatusChip status={status} />
          {is_test && <Chip tone="info">Test</Chip>}
        </span>
      ),
    },
    {
      id: 'code',
      title: 'Response',
      isNumeric: true,
      cell: ({ response_status }) => response_status ?? <span className="soft">none</span>,
    },
    {
      id: 'ms',
      title: 'Took',
      isNumeric: true,
      isSecondary: true,
      cell: ({ response_ms }) => sayMs(response_ms),
    },
    {
      id: 'attempts',
      title: 'Attempts',
      isNumeric: true,
      isSecondary: true,
      cell: (line) => sayAttempts(line, mostAttempts),
    },
    {
      id: 'next',
      title: 'Next try',
      isSecondary: true,
      cell: ({ next_attempt_at }) =>
        next_attempt_at ? <Ago at={next_attempt_at} /> : <span className="soft">–</span>,
    },
  ];
  return (
    <DataTable
      label="Deliveries"
      className="delivery-table"
      columns={columns}
      rows={deliveries}
      rowId={({ id }) => id}
    />
  );
}

/** The row's name and the way into it; in full while it has the pointer or the focus. */
function OpenDelivery({ line, onOpen }: { line: DeliveryLine; onOpen: (id: string) => void }): ReactElement {
  const { id, created_at, event } = line;
  return (
    <Tooltip text={sayMoment(created_at)}>
      <Button className="delivery-open" aria-haspopup="dialog" onPress={() => onOpen(id)}>
        <time dateTime={created_at}>
          <AgoText at={created_at} />
        </time>
        <span className="delivery-open-event soft small">{shortEvent(event)}</span>
        <span className="unseen">details</span>
      </Button>
    </Tooltip>
  );
}
