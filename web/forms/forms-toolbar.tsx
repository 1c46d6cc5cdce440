import { type ReactElement, useEffect, useRef, useState } from 'react';
import { SearchField } from '../design/field.tsx';
import { Select } from '../design/select.tsx';
import type { FormOrder, FormStatus, FormsView } from './forms-query.ts';
import { sayCount } from '#ast/say-count.ts';

const statuses = [
  { id: 'all', label: 'All statuses' },
  { id: 'published', label: 'Published' },
  { id: 'draft', label: 'Draft' },
  { id: 'archived', label: 'Archived' },
] as const satisfies readonly { id: FormStatus | 'all'; label: string }[];

const orders = [
  { id: 'activity', label: 'Last activity' },
  { id: 'created', label: 'Newest' },
  { id: 'name', label: 'Name' },
  { id: 'submissions', label: 'Submissions' },
] as const satisfies readonly { id: FormOrder; label: string }[];

/** Typing rests this long before it is searched for. */
const restMs = 200;

type Props = { view: FormsView; onChange: (change: Partial<FormsView>) => void; total: number | undefined };

/** What narrows and sorts the list. */
export function FormsToolbar({ view, onChange, total }: Props): ReactElement {
  const [text, setText] = useState(view.q ?? '');
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Back and Forward change the address under the box.
  useEffect(() => setText((typed) => (typed.trim() === (view.q ?? '') ? typed : (view.q ?? ''))), [view.q]);
  useEffect(() => () => clearTimeout(rest.current), []);
  const search = (typed: string): void => {
    setText(typed);
    clearTimeout(rest.current);
    rest.current = setTimeout(() => onChange({ q: typed.trim() || undefined }), restMs);
  };
  return (
    <div className="forms-toolbar" role="search">
      <SearchField label="Search forms" value={text} onChange={search} />
      <Select
        label="Status"
        isLabelHidden
        choices={statuses}
        value={view.status ?? 'all'}
        onChange={(status) => onChange({ status: status === 'all' ? undefined : status })}
      />
      <Select
        label="Sort by"
        isLabelHidden
        choices={orders}
        value={view.sort ?? 'activity'}
        onChange={(sort) => onChange({ sort: sort === 'activity' ? undefined : sort })}
      />
      <span className="unseen" role="status">
        {total === undefined ? '' : sayCount(total, 'form')}
      </span>
    </div>
  );
}
