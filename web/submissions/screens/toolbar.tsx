import './toolbar.css';
import { type ReactElement, useState } from 'react';
import type { Column } from '#submissions/shapes.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Select } from '../../design/select.tsx';
import { ScreenSearch } from '../../shell/search/search-box.tsx';
import { filterColumnsOf } from '../filter/conditions.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { type FormLocation, useTeam } from '../queries.ts';
import {
  type ChangeView,
  dateDaysAgo,
  isViewFiltered,
  type SubmissionStatus,
  statusLabels,
  unfilteredView,
  type ViewState,
} from '../view-state.ts';

type Days = { from: string | undefined; to: string | undefined };

/** Periods that end today, each with the number of days before today. */
const spans = { today: 0, week: 6, month: 29, quarter: 89 } as const;
const spanChoices = [
  { id: 'any', label: 'Any time' },
  { id: 'today', label: 'Today' },
  { id: 'week', label: 'Last 7 days' },
  { id: 'month', label: 'Last 30 days' },
  { id: 'quarter', label: 'Last 90 days' },
] as const;
type SpanId = (typeof spanChoices)[number]['id'] | 'own';

/** Filters by the time at which submissions were received: a preset period or custom days. */
function DateFilter({ from, to, onChange }: Days & { onChange: (days: Days) => void }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const current = spanOf({ from, to });
  const own = { id: 'own', label: current === 'own' ? formatPeriod({ from, to }) : 'Custom range…' } as const;
  const choose = (id: SpanId): void => {
    if (id === 'own') setAsking(true);
    else onChange({ from: id === 'any' ? undefined : dateDaysAgo(spans[id]), to: undefined });
  };
  return (
    <>
      <Select<SpanId>
        label="Received"
        isLabelHidden
        choices={[...spanChoices, own]}
        value={current}
        onChange={choose}
      />
      {isAsking && (
        <DaysDialog
          days={{ from, to }}
          onClose={() => setAsking(false)}
          onChange={(days) => {
            setAsking(false);
            onChange(days);
          }}
        />
      )}
    </>
  );
}

function spanOf({ from, to }: Days): SpanId {
  if (from === undefined && to === undefined) return 'any';
  const known = (Object.keys(spans) as (keyof typeof spans)[]).find(
    (id) => to === undefined && from === dateDaysAgo(spans[id]),
  );
  return known ?? 'own';
}

/** Describes the period. */
export function formatPeriod({ from, to }: Days): string {
  if (from === undefined) return to === undefined ? 'Any time' : `Until ${to}`;
  return to === undefined ? `Since ${from}` : `${from} – ${to}`;
}

type DaysDialogProps = { days: Days; onClose: () => void; onChange: (days: Days) => void };

function DaysDialog({ days, onClose, onChange }: DaysDialogProps): ReactElement {
  const [from, setFrom] = useState(days.from ?? '');
  const [to, setTo] = useState(days.to ?? '');
  const error = from && to && from > to ? 'The last day must not be before the first day.' : undefined;
  return (
    <FormDialog
      title="Received between"
      onClose={onClose}
      onSubmit={() => error === undefined && onChange({ from: from || undefined, to: to || undefined })}
      submitLabel="Apply"
    >
      <TextField type="date" label="First day" value={from} onChange={setFrom} autoFocus />
      <TextField type="date" label="Last day" value={to} onChange={setTo} error={error} />
    </FormDialog>
  );
}

const statuses = [
  { id: 'any', label: 'Any status' },
  ...(Object.keys(statusLabels) as SubmissionStatus[]).map((id) => ({ id, label: statusLabels[id] })),
] as const;

type ViewFiltersProps = {
  form: FormLocation;
  view: ViewState;
  columns: readonly Column[];
  onChange: ChangeView;
};

/** The filters of the table. */
export function Toolbar(filters: ViewFiltersProps): ReactElement {
  const { form, view, onChange } = filters;
  return (
    <div className="submissions-filters" role="search">
      <ScreenSearch
        label="Search submissions"
        placeholder="Search answers"
        place={{ workspaceId: form.workspace_id, formId: form.id }}
        q={view.q}
        onChange={(q) => onChange({ q }, { replace: true })}
      />
      <ViewFilters {...filters} />
    </div>
  );
}

/** The filters by status, time and answers, which table and summary share. */
export function ViewFilters({ form, view, columns, onChange }: ViewFiltersProps): ReactElement {
  const team = useTeam(form);
  return (
    <>
      <Select
        label="Status"
        isLabelHidden
        choices={statuses}
        value={view.status ?? 'any'}
        onChange={(status) => onChange({ status: status === 'any' ? undefined : status })}
      />
      <DateFilter from={view.from} to={view.to} onChange={onChange} />
      <FilterBar
        key={view.saved ?? 'all'}
        columns={filterColumnsOf(columns, team)}
        where={view.where}
        onChange={(where) => onChange({ where })}
      >
        {isViewFiltered(view) && (
          <Button size="small" variant="quiet" icon="close" onPress={() => onChange(unfilteredView)}>
            Clear
          </Button>
        )}
      </FilterBar>
    </>
  );
}
