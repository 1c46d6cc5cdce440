import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Button as BareButton } from 'react-aria-components/Button';
import { formatCount } from '#ast/basics/format-number.ts';
import type { DeliveryLine, WebhookDetail } from '#webhooks/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { TextField } from '../../design/field.tsx';
import { Message } from '../../design/message.tsx';
import { Pager } from '../../design/pager.tsx';
import { Select } from '../../design/select.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, AgoText, formatDateTime } from '../../design/time.tsx';
import { Tooltip } from '../../design/tooltip.tsx';
import { mayEdit } from '../../shell/session.ts';
import { eventChoices, eventLabel } from '../events.ts';
import {
  deliveryStatuses,
  formatAttempts,
  formatMilliseconds,
  isLogFiltered,
  type LogView,
} from '../log-view.ts';
import { ReplayDialog } from '../replay.tsx';
import type { ReplayDraft } from '../replay-query.ts';
import { deliveriesQuery, type WebhookOwner } from '../webhooks-query.ts';

const statuses = [{ id: 'all', label: 'All' }, ...deliveryStatuses.map((id) => ({ id, label: id }))] as const;
const events = [
  { id: 'all', label: 'All' },
  ...eventChoices.map(({ id, label }) => ({ id, label })),
] as const;

type FiltersProps = {
  view: LogView;
  onChange: (change: Partial<LogView>) => void;
  total: number | undefined;
};

function DeliveryFilters({ view, onChange, total }: FiltersProps): ReactElement {
  const orNothing = <T extends string>(id: T | 'all'): T | undefined => (id === 'all' ? undefined : id);
  return (
    <div className="delivery-filters" role="search" aria-label="Delivery log">
      <Select
        label="Status"
        choices={statuses}
        value={view.status ?? 'all'}
        onChange={(status) => onChange({ status: orNothing(status) })}
      />
      <Select
        label="Event"
        choices={events}
        value={view.event ?? 'all'}
        onChange={(event) => onChange({ event: orNothing(event) })}
      />
      <TextField
        label="From"
        type="date"
        value={view.from ?? ''}
        onChange={(from) => onChange({ from: from || undefined })}
      />
      <TextField
        label="To"
        type="date"
        value={view.to ?? ''}
        onChange={(to) => onChange({ to: to || undefined })}
      />
      {isLogFiltered(view) && (
        <Button
          variant="quiet"
          icon="close"
          onPress={() => onChange({ status: undefined, event: undefined, from: undefined, to: undefined })}
        >
          Clear filters
        </Button>
      )}
      <span className="unseen" role="status">
        {total === undefined ? '' : formatCount(total, 'delivery', 'deliveries')}
      </span>
    </div>
  );
}

type TableProps = { deliveries: readonly DeliveryLine[]; mostAttempts: number; onOpen: (id: string) => void };

/** The delivery log. Specification, "Delivery and retry rules". */
function DeliveryTable({ deliveries, mostAttempts, onOpen }: TableProps): ReactElement {
  const columns: TableColumn<DeliveryLine>[] = [
    { id: 'time', title: 'Time', cell: (line) => <OpenDelivery line={line} onOpen={onOpen} /> },
    { id: 'event', title: 'Event', isSecondary: true, cell: ({ event }) => eventLabel(event) },
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
      title: 'Duration',
      isNumeric: true,
      isSecondary: true,
      cell: ({ response_ms }) => formatMilliseconds(response_ms),
    },
    {
      id: 'attempts',
      title: 'Attempts',
      isNumeric: true,
      isSecondary: true,
      cell: (line) => formatAttempts(line, mostAttempts),
    },
    {
      id: 'next',
      title: 'Next attempt',
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

/** A button that opens the delivery and is the row's header. Hover or focus shows the full time. */
function OpenDelivery({ line, onOpen }: { line: DeliveryLine; onOpen: (id: string) => void }): ReactElement {
  const { id, created_at, event } = line;
  return (
    <Tooltip text={formatDateTime(created_at)}>
      <BareButton className="delivery-open" aria-haspopup="dialog" onPress={() => onOpen(id)}>
        <time dateTime={created_at}>
          <AgoText at={created_at} />
        </time>
        <span className="delivery-open-event soft small">{eventLabel(event)}</span>
        <span className="unseen">details</span>
      </BareButton>
    </Tooltip>
  );
}

type Props = {
  form: WebhookOwner;
  detail: WebhookDetail;
  view: LogView;
  /** Changes the URL; `replace` if Back should not return to the previous state. */
  onShow: (change: Partial<LogView>, replace?: boolean) => void;
};

/** The deliveries of a webhook, newest first. It refreshes by itself, more often during retries. */
export function DeliveryLog({ form, detail, view, onShow }: Props): ReactElement {
  const { webhook, most_attempts } = detail;
  const log = useQuery(deliveriesQuery(form, webhook.id, view));
  const total = log.data?.pagination.total_count;
  const isNarrowed = isLogFiltered(view);
  const [isReplaying, setReplaying] = useState(false);
  const nothing =
    total !== 0 ? (
      <EmptyState
        icon="clock"
        title="This page is empty"
        action={<Button onPress={() => onShow({ page: undefined })}>Go to first page</Button>}
      />
    ) : isNarrowed ? (
      <EmptyState icon="search" title="No matching deliveries">
        <p>Try another status, event or day.</p>
      </EmptyState>
    ) : (
      <EmptyState icon="clock" title="No deliveries yet">
        <p>
          {webhook.active
            ? 'The next event appears here within a second. You can also send a test now.'
            : 'The webhook is paused and sends no events. You can still send a test.'}
        </p>
      </EmptyState>
    );
  return (
    <section className="delivery-log" aria-labelledby="delivery-log">
      <div className="spread">
        <h2 id="delivery-log" className="delivery-log-title">
          Delivery log
        </h2>
        {mayEdit(form.role) && webhook.active && (isNarrowed || total !== 0) && (
          <Button icon="refresh" onPress={() => setReplaying(true)}>
            Resend…
          </Button>
        )}
      </div>
      {isReplaying && (
        <ReplayDialog
          form={form}
          webhook={webhook}
          draft={draftOf(view)}
          onClose={() => setReplaying(false)}
        />
      )}
      {(isNarrowed || total !== 0) && (
        <DeliveryFilters
          view={view}
          total={total}
          onChange={(change) => onShow({ ...change, page: undefined })}
        />
      )}
      {log.error && log.data && (
        <Message tone="warn">This list may be out of date. {log.error.message}</Message>
      )}
      <QueryState query={log} lines={5} empty={nothing}>
        {({ data, pagination }) => (
          <div className="stack" data-stale={log.isPlaceholderData || undefined}>
            <DeliveryTable
              deliveries={data}
              mostAttempts={most_attempts}
              onOpen={(delivery) => onShow({ delivery }, false)}
            />
            <Pager
              label="Pages of deliveries"
              pagination={pagination}
              onChange={(page) => onShow({ page })}
            />
          </div>
        )}
      </QueryState>
    </section>
  );
}

/** The replay dialog starts with the filters of the log. */
const draftOf = ({ status, event, from, to }: LogView): Partial<ReplayDraft> => ({
  ...(status && status !== 'Retrying' && { status }),
  ...(event && { event }),
  ...(from && { from }),
  ...(to && { to }),
});
