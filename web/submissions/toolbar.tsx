import { type ReactElement, useEffect, useRef, useState } from 'react';
import { readQuestion } from '#ast/search/read-question.ts';
import type { Column } from '#submissions/shapes.ts';
import { Button } from '../design/button.tsx';
import { Select } from '../design/select.tsx';
import { QuestionBox } from '../shell/search/question-box.tsx';
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
      <SearchBox form={form} q={view.q} onChange={(q) => onChange({ q }, { replace: true })} />
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

/** A pause in typing after which the search begins. */
const typingMs = 250;

function SearchBox({
  form,
  q,
  onChange,
}: {
  form: FormPlace;
  q: string | undefined;
  onChange: (q: string | undefined) => void;
}): ReactElement {
  const [text, setText] = useState(q ?? '');
  const asked = useRef(q);
  // The address may change by itself: by the browser's Back, or by Clear.
  useEffect(() => {
    if (q === asked.current) return;
    asked.current = q;
    setText(q ?? '');
  }, [q]);
  useEffect(() => {
    const next = text.trim() || undefined;
    // What cannot be asked is said in the box; the rows stay those of the last question.
    if (next === asked.current || readQuestion(next ?? '').problems.length > 0) return undefined;
    const timer = setTimeout(() => {
      asked.current = next;
      onChange(next);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  return (
    <QuestionBox
      label="Search submissions"
      placeholder="Search answers"
      place={{ workspaceId: form.workspace_id, formId: form.id }}
      value={text}
      onChange={setText}
    />
  );
}
