import type { ReactElement } from 'react';
import type { Column } from '#submissions/shapes.ts';
import { Button } from '../design/button.tsx';
import { Select } from '../design/select.tsx';
import { AskedQuestion } from '../shell/search/asked-question.tsx';
import { DateFilter } from './date-filter.tsx';
import { FilterChips } from './filter/filter-chips.tsx';
import type { FormPlace } from './queries.ts';
import { type ChangeView, isFiltered, type ViewState, wholeView } from './view-state.ts';

const statuses = [
  { id: 'any', label: 'Any status' },
  { id: 'completed', label: 'Completed' },
  { id: 'incomplete', label: 'Incomplete' },
] as const;

type Props = {
  form: FormPlace;
  view: ViewState;
  columns: readonly Column[];
  onChange: ChangeView;
};

/** What narrows the table. */
export function Toolbar({ form, view, columns, onChange }: Props): ReactElement {
  return (
    <div className="submissions-filters" role="search">
      <AskedQuestion
        label="Search submissions"
        placeholder="Search answers"
        place={{ workspaceId: form.workspace_id, formId: form.id }}
        q={view.q}
        onChange={(q) => onChange({ q }, { replace: true })}
      />
      <Select
        label="Status"
        isLabelHidden
        choices={statuses}
        value={view.status ?? 'any'}
        onChange={(status) => onChange({ status: status === 'any' ? undefined : status })}
      />
      <DateFilter from={view.from} to={view.to} onChange={onChange} />
      <FilterChips columns={columns} where={view.where} onChange={(where) => onChange({ where })} />
      {isFiltered(view) && (
        <Button size="small" variant="quiet" icon="close" onPress={() => onChange(wholeView)}>
          Clear
        </Button>
      )}
    </div>
  );
}
