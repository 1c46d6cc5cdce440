import type { ReactElement } from 'react';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Select } from '../../design/select.tsx';
import { eventChoices } from '../events.ts';
import { deliveryStatuses, isFiltered, type LogView } from './log-view.ts';
import { sayCount } from '#ast/say-count.ts';

const statuses = [{ id: 'all', label: 'All' }, ...deliveryStatuses.map((id) => ({ id, label: id }))] as const;
const events = [
  { id: 'all', label: 'All' },
  ...eventChoices.map(({ id, label }) => ({ id, label })),
] as const;

type Props = { view: LogView; onChange: (change: Partial<LogView>) => void; total: number | undefined };

/** What narrows the delivery log. */
export function DeliveryFilters({ view, onChange, total }: Props): ReactElement {
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
      {isFiltered(view) && (
        <Button
          variant="quiet"
          icon="close"
          onPress={() => onChange({ status: undefined, event: undefined, from: undefined, to: undefined })}
        >
          Clear filters
        </Button>
      )}
      <span className="unseen" role="status">
        {total === undefined ? '' : sayCount(total, 'delivery', 'deliveries')}
      </span>
    </div>
  );
}
